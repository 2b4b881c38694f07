// Makes the checks with the proxy that kdwsdl2cpp generates.
#include "../cpp/checks.h"
#include "screening.h"
#include <QCoreApplication>
#include <QRegularExpression>

namespace {

using Text = std::optional<std::string>;

Text text(const QString &value) { return value.isNull() ? Text() : value.toStdString(); }
Text text(bool value) { return value ? "true" : "false"; }
Text text(int value) { return std::to_string(value); }
Text text(qint64 value) { return std::to_string(value); }
Text text(double value) { return digits(value); }
Text text(const KDDateTime &value) { return value.toDateString().toStdString(); }
Text text(const QByteArray &value) { return value.left(4).toStdString() + " " + std::to_string(value.size()); }

/// A value, or none if the proxy reports that its element was absent.
template <class Value>
Text text(bool there, const Value &value) {
    return there ? text(value) : Text();
}

Text presence(bool there, const QString &value) { return !there ? "absent" : value.isEmpty() ? "nil" : "value"; }

void read_link(Values &values, const std::string &path, const TNS__LinkedTo &link) {
    values[path + "Id"] = text(link.id());
    values[path + "ClientId"] = text(link.clientId());
    values[path + "Name"] = text(link.name());
}

/// The length of an array and its items.
template <class Item, class Read>
void read_items(Values &values, const std::string &path, const QList<Item> &items, const Read &read) {
    values[path + ".#"] = std::to_string(items.size());
    for (int i = 0; i < items.size(); i++) read(path + "." + std::to_string(i) + ".", items[i]);
}

/// The calls of one check, with the binding of one SOAP version.
template <class Binding>
class Caller {
  public:
    explicit Caller(const Check &check) : check(check) {
        api.setEndPoint(check.endpoint());
        authentication.setApiUserId("demo");
        authentication.setApiUserKey("demo-key");
    }

    /// Values read by the call, or its fault.
    Values call() {
        const Values values = read();
        if (api.lastError().isEmpty()) return values;
        // the proxy reports a fault as one text: "Fault code s:Client: …" in SOAP 1.1, "Fault s:Sender: …" in 1.2
        const QRegularExpressionMatch fault =
            QRegularExpression("^Fault (?:code )?\\w+:(\\w+): (.*)$").match(api.lastError());
        if (!fault.hasMatch()) throw std::runtime_error(api.lastError().toStdString());
        return {{"code", text(fault.captured(1))}, {"message", text(fault.captured(2))}};
    }

  private:
    const Check &check;
    Binding api;
    TNS__Authentication authentication;

    Values read() {
        if (check.operation == "UpdateSubUser") return update_sub_user();
        if (check.operation == "UpdateValidId") return update_valid_id();
        if (check.operation == "AddClientTemplate") return add_client_template();
        if (check.operation == "GetDbsSearch") return get_dbs_search();
        if (check.operation == "RenewAllPepSearches") return renew_all_pep_searches();
        if (check.operation == "DeleteClient") return delete_client();
        if (check.operation == "GetSearch") return get_search();
        if (check.operation == "CostRenewAllPepSearches") return cost_renew_all_pep_searches();
        if (check.operation == "GetPdf") return get_pdf();
        if (check.operation == "CountIncompleteClients") return count_incomplete_clients();
        if (check.operation == "GetEulaStatus") return get_eula_status();
        if (check.operation == "GetValidIds") return get_valid_ids();
        throw std::invalid_argument(check.operation);
    }

    QString input(const std::string &path) const { return QString::fromStdString(check.text(path)); }

    KDDateTime date(const std::string &path) const { return KDDateTime::fromDateString(input(path)); }

    Values update_sub_user() {
        TNS__UpdateSubUserRequest request;
        request.setSubUserName(input("Request.SubUserName"));
        if (check.has("Request.Permissions.string.#")) {
            QStringList names;
            for (const std::string &name : check.texts("Request.Permissions.string"))
                names << QString::fromStdString(name);
            ARR__ArrayOfstring permissions;
            permissions.setString(names);
            request.setPermissions(permissions);
        }
        TNS__UpdateSubUser call;
        call.setAuthentication(authentication);
        call.setRequest(request);
        const TNS__SubUser user = api.updateSubUser(call).data().subUser();
        Values values = {
            {"SubUser.CanResolveSearches", text(user.hasValueForCanResolveSearches(), user.canResolveSearches())},
            {"SubUser.Email", text(user.hasValueForEmail(), user.email())},
            {"SubUser.IsAdmin", text(user.hasValueForIsAdmin(), user.isAdmin())},
            {"SubUser.IsMainUser", text(user.hasValueForIsMainUser(), user.isMainUser())},
            {"SubUser.Name", text(user.hasValueForName(), user.name())},
            {"SubUser.UserId", text(user.hasValueForUserId(), user.userId())},
            {"SubUser.UserName", text(user.hasValueForUserName(), user.userName())},
            {"SubUser.Permissions", user.hasValueForPermissions() ? Text("array") : Text()},
        };
        values["SubUser.Email.?"] = presence(user.hasValueForEmail(), user.email());
        values["SubUser.Name.?"] = presence(user.hasValueForName(), user.name());
        values["SubUser.UserId.?"] = presence(user.hasValueForUserId(), user.userId());
        const QStringList permissions = user.permissions().string();
        values["SubUser.Permissions.string.#"] = std::to_string(permissions.size());
        for (int i = 0; i < permissions.size(); i++)
            values["SubUser.Permissions.string." + std::to_string(i)] = text(permissions[i]);
        return values;
    }

    Values update_valid_id() {
        TNS__UpdateValidIdRequest request;
        request.setId(check.integer("Request.Id"));
        request.setClientInResults(check.flag("Request.ClientInResults"));
        request.setClientNotInResults(check.flag("Request.ClientNotInResults"));
        TNS__UpdateValidId call;
        call.setAuthentication(authentication);
        call.setRequest(request);
        const TNS__UpdateValidIdResult data = api.updateValidId(call).data();
        return {{"Success", text(data.hasValueForSuccess(), data.success())}};
    }

    Values add_client_template() {
        TNS__AddClientTemplate call;
        call.setAuthentication(authentication);
        const TNS__AddClientRequest blank = api.addClientTemplate(call).data().request();
        Values values;
        // an enum has no text in this API
        const bool validate_me = blank.proofOfPreset().type() == TNS__CreateMobileClientType::ValidateMe;
        values["Request.ProofOfPreset"] = validate_me ? "ValidateMe" : "another";
        read_items(values, "Request.ProofOfDocumentCategories.ProofOfDocumentCategory",
                   blank.proofOfDocumentCategories().proofOfDocumentCategory(),
                   [&](const std::string &path, const TNS__ProofOfDocumentCategory &category) {
                       values[path + "Id"] = text(category.id());
                       values[path + "ProofOf"] = text(category.proofOf());
                       read_items(values, path + "ProofOfDocuments.ProofOfDocument",
                                  category.proofOfDocuments().proofOfDocument(),
                                  [&](const std::string &path, const TNS__ProofOfDocument &document) {
                                      values[path + "Id"] = text(document.id());
                                      values[path + "Name"] = text(document.name());
                                  });
                   });
        values["Request.Name"] = text(blank.name());
        read_items(values, "Request.LinkedTo.LinkedTo", blank.linkedTo().linkedTo(),
                   [&](const std::string &path, const TNS__LinkedTo &link) { read_link(values, path, link); });
        return values;
    }

    Values get_dbs_search() {
        TNS__GetDbsSearch call;
        call.setAuthentication(authentication);
        call.setId(check.integer("Id"));
        call.setSubUserName(input("SubUserName"));
        const TNS__GetDbsSearchResult data = api.getDbsSearch(call).data();
        const TNS__DbsSearchSummary summary = data.summary();
        Values values = {
            {"Summary.Id", text(summary.hasValueForId(), summary.id())},
            {"Summary.IsIdCheckCompleted", text(summary.hasValueForIsIdCheckCompleted(), summary.isIdCheckCompleted())},
            {"Summary.Status", text(summary.hasValueForStatus(), summary.status())},
            {"Summary.ApplicantInformation.Name", text(summary.applicantInformation().name())},
            {"Summary.ApplicantInformation.ApplicantPin", text(summary.applicantInformation().applicantPin())},
        };
        read_items(values, "LinkedTo.LinkedTo", data.linkedTo().linkedTo(),
                   [&](const std::string &path, const TNS__LinkedTo &link) { read_link(values, path, link); });
        return values;
    }

    Values renew_all_pep_searches() {
        TNS__RenewAllPepSearchesRequest request;
        request.setRenewalDate(date("Request.RenewalDate"));
        TNS__RenewAllPepSearches call;
        call.setAuthentication(authentication);
        call.setRequest(request);
        const TNS__RenewAllPepSearchesResult data = api.renewAllPepSearches(call).data();
        return {
            {"Count", text(data.hasValueForCount(), data.count())},
            {"RenewalDate", text(data.hasValueForRenewalDate(), data.renewalDate())},
            {"TotalCost", text(data.hasValueForTotalCost(), double(data.totalCost()))},
        };
    }

    Values delete_client() {
        TNS__DeleteClient call;
        call.setAuthentication(authentication);
        call.setId(check.integer("Id"));
        const TNS__ResponseStatus status = api.deleteClient(call).data().responseStatus();
        Values values = {
            {"ResponseStatus.ErrorCode", text(status.hasValueForErrorCode(), status.errorCode())},
            {"ResponseStatus.Message", text(status.hasValueForMessage(), status.message())},
        };
        read_items(values, "ResponseStatus.Errors.ResponseError", status.errors().responseError(),
                   [&](const std::string &path, const TNS__ResponseError &error) {
                       values[path + "ErrorCode"] = text(error.errorCode());
                       values[path + "FieldName"] = text(error.fieldName());
                       values[path + "Message"] = text(error.message());
                   });
        read_items(values, "ResponseStatus.Meta.KeyValueOfstringstring", status.meta().keyValueOfstringstring(),
                   [&](const std::string &path, const ARR__KeyValueOfstringstring &entry) {
                       values[path + "Key"] = text(entry.key());
                       values[path + "Value"] = text(entry.value());
                   });
        return values;
    }

    Values get_search() {
        TNS__GetSearchRequest request;
        request.setId(check.integer("Request.Id"));
        request.setOnlyShowUnresolvedResults(check.flag("Request.OnlyShowUnresolvedResults"));
        request.setSubUserName(input("Request.SubUserName"));
        TNS__GetSearch call;
        call.setAuthentication(authentication);
        call.setRequest(request);
        const TNS__SearchRecord record = api.getSearch(call).data().searchRecord();
        Values values = {
            {"SearchRecord.Id", text(record.hasValueForId(), record.id())},
            {"SearchRecord.IsArchived", text(record.hasValueForIsArchived(), record.isArchived())},
            {"SearchRecord.SearchType", text(record.searchType())},
            {"SearchRecord.NumOfResults", text(record.hasValueForNumOfResults(), record.numOfResults())},
            {"SearchRecord.SearchCriteria.Name", text(record.searchCriteria().name())},
        };
        read_items(values, "SearchRecord.SearchResults.EuResults.SearchResultEu",
                   record.searchResults().euResults().searchResultEu(),
                   [&](const std::string &path, const TNS__SearchResultEu &result) {
                       values[path + "ResultStrength"] = text(result.resultStrength());
                       values[path + "ResultSimilarity"] = text(result.resultSimilarity());
                       read_items(values, path + "Names.EuName", result.names().euName(),
                                  [&](const std::string &path, const TNS__EuName &name) {
                                      values[path + "FullName"] = text(name.fullName());
                                      values[path + "Gender"] = text(name.gender());
                                  });
                   });
        return values;
    }

    Values cost_renew_all_pep_searches() {
        TNS__CostRenewAllPepSearchesRequest request;
        request.setRenewalDate(date("Request.RenewalDate"));
        TNS__CostRenewAllPepSearches call;
        call.setAuthentication(authentication);
        call.setRequest(request);
        const TNS__CostRenewAllPepSearchesResult data = api.costRenewAllPepSearches(call).data();
        return {
            {"CanAfford", text(data.hasValueForCanAfford(), data.canAfford())},
            {"Count", text(data.hasValueForCount(), data.count())},
            {"RenewalDate", text(data.hasValueForRenewalDate(), data.renewalDate())},
            {"TotalCost", text(data.hasValueForTotalCost(), data.totalCost())},
        };
    }

    Values get_pdf() {
        TNS__GetPdfRequest request;
        request.setId(std::stoll(check.text("Request.Id")));
        request.setSubUserName(input("Request.SubUserName"));
        TNS__GetPdf call;
        call.setAuthentication(authentication);
        call.setRequest(request);
        const TNS__PdfDocumentWithData document = api.getPdf(call).data().document();
        return {
            {"Document.DocumentBytes", text(document.hasValueForDocumentBytes(), document.documentBytes())},
            {"Document.FileName", text(document.hasValueForFileName(), document.fileName())},
            {"Document.Id", text(document.hasValueForId(), document.id())},
            {"Document.Name", text(document.hasValueForName(), document.name())},
            {"Document.IsReady", text(document.hasValueForIsReady(), document.isReady())},
            {"Document.SanctionsSearchId", text(document.hasValueForSanctionsSearchId(), document.sanctionsSearchId())},
        };
    }

    Values count_incomplete_clients() {
        TNS__CountIncompleteClients call;
        call.setAuthentication(authentication);
        call.setDaysIncomplete(check.integer("DaysIncomplete"));
        call.setIsValidateMe(check.flag("IsValidateMe"));
        if (check.text("State") != "PendingCompletion") throw std::invalid_argument(check.text("State"));
        call.setState(TNS__ClientState(TNS__ClientState::PendingCompletion));
        const TNS__CountIncompleteClientsResult data = api.countIncompleteClients(call).data();
        return {{"NumberOfIncompleteClients", text(data.numberOfIncompleteClients())}};
    }

    Values get_eula_status() {
        TNS__GetEulaStatusRequest request;
        request.setSubUserName(input("Request.SubUserName"));
        TNS__GetEulaStatus call;
        call.setAuthentication(authentication);
        call.setRequest(request);
        const TNS__GetEulaStatusResult data = api.getEulaStatus(call).data();
        return {
            {"AgreeToContact", text(data.hasValueForAgreeToContact(), data.agreeToContact())},
            {"AgreeToContactInfo", text(data.hasValueForAgreeToContactInfo(), data.agreeToContactInfo())},
            {"AgreeToTerms", text(data.hasValueForAgreeToTerms(), data.agreeToTerms())},
        };
    }

    Values get_valid_ids() {
        TNS__GetValidIdsRequest request;
        if (check.has("Request.FilterDateFrom")) request.setFilterDateFrom(date("Request.FilterDateFrom"));
        if (check.has("Request.FilterDateTo")) request.setFilterDateTo(date("Request.FilterDateTo"));
        if (check.has("Request.FilterReference")) request.setFilterReference(input("Request.FilterReference"));
        if (check.nulls.count("Request.FilterReference") > 0) request.setFilterReference(QString());
        if (check.has("Request.FilterType")) request.setFilterType(input("Request.FilterType"));
        if (check.has("Request.FilterUserName")) request.setFilterUserName(input("Request.FilterUserName"));
        if (check.has("Request.NameSearch")) request.setNameSearch(input("Request.NameSearch"));
        request.setPage(check.integer("Request.Page"));
        if (check.has("Request.SortOrder")) request.setSortOrder(input("Request.SortOrder"));
        if (check.has("Request.SubUserName")) request.setSubUserName(input("Request.SubUserName"));
        TNS__GetValidIds call;
        call.setAuthentication(authentication);
        call.setRequest(request);
        const TNS__GetValidIdsResult data = api.getValidIds(call).data();
        Values values = {
            {"MaxPageNum", text(data.hasValueForMaxPageNum(), data.maxPageNum())},
            {"CurrentPageNum", text(data.hasValueForCurrentPageNum(), data.currentPageNum())},
            {"TotalSearchRecords", text(data.hasValueForTotalSearchRecords(), data.totalSearchRecords())},
        };
        read_items(values, "SearchRecords.SearchRecord", data.searchRecords().searchRecord(),
                   [&](const std::string &path, const TNS__ValidIdListItem &item) {
                       values[path + "DateSearched"] = text(item.hasValueForDateSearched(), item.dateSearched());
                       values[path + "Id"] = text(item.id());
                       values[path + "Type"] = text(item.type());
                       values[path + "Status"] = text(item.hasValueForStatus(), item.status());
                   });
        return values;
    }
};

template <class Binding>
void run(const char *folder) {
    run_checks(folder, [](const Check &check) { return Caller<Binding>(check).call(); });
}

} // namespace

int main(int count, char **arguments) {
    QCoreApplication application(count, arguments);
    const std::string version = arguments[2];
    if (version == "1.1") run<ScreeningApi::Soap11Binding>(arguments[3]);
    else run<ScreeningApi::Soap12Binding>(arguments[3]);
}
