// Makes the harness's checks one after another: a call, then the values of its reply.
#pragma once
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

/// One check: its inputs by path, the paths of null inputs, and the paths to read. Absent inputs are missing.
struct Check {
    std::string operation, situation;
    std::map<std::string, std::string> input;
    std::set<std::string> nulls;
    std::vector<std::string> read;

    bool has(const std::string &path) const { return input.count(path) > 0; }

    const std::string &text(const std::string &path) const { return input.at(path); }

    int integer(const std::string &path) const { return std::stoi(text(path)); }

    bool flag(const std::string &path) const { return text(path) == "true"; }

    /// The items of an existing array.
    std::vector<std::string> texts(const std::string &path) const {
        std::vector<std::string> items;
        for (int i = 0; i < integer(path + ".#"); i++) items.push_back(text(path + "." + std::to_string(i)));
        return items;
    }

    /// Endpoint of the call; faults have a separate one.
    const char *endpoint() const { return std::getenv(situation == "fault" ? "FAULT_ENDPOINT" : "ENDPOINT"); }
};

/// Values of a reply by path; no text if the stack's API reports no value.
using Values = std::map<std::string, std::optional<std::string>>;

inline std::vector<Check> load_checks(const std::string &file) {
    std::vector<Check> checks;
    std::ifstream rows(file);
    for (std::string row; std::getline(rows, row);) {
        std::istringstream columns(row);
        std::string operation, situation, kind, path, value;
        std::getline(columns, operation, '\t');
        std::getline(columns, situation, '\t');
        std::getline(columns, kind, '\t');
        std::getline(columns, path, '\t');
        std::getline(columns, value, '\t');
        if (checks.empty() || checks.back().operation != operation || checks.back().situation != situation)
            checks.push_back({operation, situation, {}, {}, {}});
        if (kind == "null") checks.back().nulls.insert(path);
        else if (kind == "input") checks.back().input[path] = value;
        else checks.back().read.push_back(path);
    }
    return checks;
}

inline std::string quoted(const std::optional<std::string> &text) {
    if (!text) return "null";
    std::string out = "\"";
    for (const char c : *text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n') out += "\\n";
        else out += c;
    }
    return out + "\"";
}

/// The part of a check's line with the values read.
inline std::string outcome(const Check &check, const std::function<Values(const Check &)> &call) {
    try {
        const Values values = call(check);
        std::string got;
        for (const std::string &path : check.read) {
            if (values.count(path) == 0) throw std::runtime_error("expected a value at " + path + ", got none");
            got += (got.empty() ? "" : ",") + quoted(values.at(path));
        }
        return "\"got\":[" + got + "]";
    } catch (const std::exception &e) {
        return "\"error\":" + quoted(e.what());
    }
}

/// Runs all checks of checks.tsv in the folder and prints one JSON line for each.
inline void run_checks(const std::string &folder, const std::function<Values(const Check &)> &call) {
    for (const Check &check : load_checks(folder + "/checks.tsv"))
        std::cout << "{\"operation\":" << quoted(check.operation) << ",\"situation\":" << quoted(check.situation) << ","
                  << outcome(check, call) << "}" << std::endl;
}

/// A double with its shortest digits.
inline std::string digits(double number) {
    std::ostringstream out;
    out.precision(15);
    out << number;
    return out.str();
}
