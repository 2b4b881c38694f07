// The output of the C++ programs for services: a line of JSON for each check.
#pragma once
#include <ctime>
#include <functional>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using Told = std::optional<std::string>;

inline std::string quoted(const std::string &text) {
  std::string json = "\"";
  for (char character : text) {
    if (character == '"' || character == '\\') json += '\\';
    json += character == '\n' ? ' ' : character;
  }
  return json + '"';
}

inline Told told(int value) { return std::to_string(value); }
inline Told told(const std::string &value) { return value; }
inline Told told(const std::string *value) { return value == nullptr ? Told() : Told(*value); }
inline Told told(time_t value) {
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", gmtime(&value));
  return std::string(text);
}
inline Told told(const time_t *value) { return value == nullptr ? Told() : told(*value); }

inline void check(const std::string &situation, const std::function<std::vector<Told>()> &read) {
  std::string line = "{\"situation\":" + quoted(situation);
  try {
    std::string got;
    for (const Told &value : read()) got += (got.empty() ? "" : ",") + (value ? quoted(*value) : "null");
    line += ",\"got\":[" + got + "]";
  } catch (const std::exception &error) { // the harness reports it
    line += ",\"error\":" + quoted(error.what());
  }
  std::cout << line << "}" << std::endl;
}
