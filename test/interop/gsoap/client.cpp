// Makes the checks with the proxy that wsdl2h and soapcpp2 generate.
#include "../cpp/checks.h"
#include "Soap11Binding.nsmap"
#include "soapSoap11BindingProxy.h"
#include "wsseapi.h"
#include <ctime>

namespace {

using Text = std::optional<std::string>;

/// An optional member of an object.
template <class Object, class Member>
Member *at(Object *object, Member *Object::*member) {
    return object == nullptr ? nullptr : object->*member;
}

template <class Number>
Text text(const Number *value) {
    return value == nullptr ? Text() : std::to_string(*value);
}
Text text(const std::string *value) { return value == nullptr ? Text() : *value; }
Text text(const bool *value) { return value == nullptr ? Text() : *value ? "true" : "false"; }
Text text(const double *value) { return value == nullptr ? Text() : digits(*value); }
Text text(const xsd__base64Binary *value) {
    if (value == nullptr) return Text();
    return std::string(value->__ptr, value->__ptr + 4) + " " + std::to_string(value->__size);
}

/// A date is a time_t, which has no zone, so a date without a zone is local time.
Text date(const time_t *value, const Check &check) {
    if (value == nullptr) return Text();
    const bool wall_clock = check.situation == "date-no-zone";
    char out[32];
    std::strftime(out, sizeof out, wall_clock ? "%FT%T" : "%FT%TZ", wall_clock ? localtime(value) : gmtime(value));
    return out;
}

/// The length of an array and its items.
template <class Array, class Item>
void read_items(Values &values, const std::string &path, Array *array, std::vector<Item> Array::*items,
                const std::function<void(const std::string &, Item)> &read) {
    if (array == nullptr) return;
    values[path + ".#"] = std::to_string((array->*items).size());
    int index = 0;
    for (Item item : array->*items) read(path + "." + std::to_string(index++) + ".", item);
}

/// The calls of one check, and the objects that live as long.
class Caller {
  public:
    explicit Caller(const Check &check)
        : check(check), context(soap_new1(SOAP_C_UTFSTRING)), api(context, check.endpoint()) {
        if (const char *security = std::getenv("SECURITY")) {
            soap_register_plugin(context, soap_wsse);
            if (std::string(security) == "digest")
                soap_wsse_add_UsernameTokenDigest(context, "User", "demo", "demo-key");
            else soap_wsse_add_UsernameTokenText(context, "User", "demo", "demo-key");
            return;
        }
        authentication = soap_new_ns1__Authentication(context);
        authentication->ApiUserId = own(std::string("demo"));
        authentication->ApiUserKey = own(std::string("demo-key"));
    }

    ~Caller() {
        soap_destroy(context);
        soap_end(context);
        soap_free(context);
    }

    Values call() {
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

  private:
    const Check &check;
    struct soap *context;
    Soap11BindingProxy api;
    /// Credentials in the body; null if a UsernameToken has them.
    ns1__Authentication *authentication = nullptr;

    /// A value owned by the context, since gSOAP's optional members are pointers.
    std::string *own(const std::string &value) {
        std::string *owned = soap_new_std__string(context);
        *owned = value;
        return owned;
    }
    template <class Value>
    Value *own(const Value &value) {
        return new (soap_malloc(context, sizeof(Value))) Value(value);
    }

    std::string *optional(const std::string &path) { return check.has(path) ? own(check.text(path)) : nullptr; }

    time_t *optional_date(const std::string &path) {
        if (!check.has(path)) return nullptr;
        time_t value;
        // gSOAP reads a date without a zone as local time; the contract's zone is UTC
        const std::string text = check.text(path).size() == 19 ? check.text(path) + "Z" : check.text(path);
        if (soap_s2dateTime(context, text.c_str(), &value) != SOAP_OK) throw std::invalid_argument(text);
        return own(value);
    }

    /// Values read by a call, or its fault.
    Values outcome(int status, const std::function<void(Values &)> &read) {
        Values values;
        if (status == SOAP_OK) {
            read(values);
            return values;
        }
        if (context->fault == nullptr) throw std::runtime_error("gSOAP error " + std::to_string(status));
        soap_set_fault(context);
        const std::string code = *soap_faultcode(context);
        values["code"] = code.substr(code.find(':') + 1);
        values["message"] = *soap_faultstring(context);
        return values;
    }

    Values update_sub_user() {
        _ns1__UpdateSubUser call;
        call.Authentication = authentication;
        call.Request = soap_new_ns1__UpdateSubUserRequest(context);
        call.Request->SubUserName = optional("Request.SubUserName");
        if (check.has("Request.Permissions.string.#")) {
            call.Request->Permissions = soap_new_arr__ArrayOfstring(context);
            call.Request->Permissions->string = check.texts("Request.Permissions.string");
        }
        _ns1__UpdateSubUserResponse reply;
        return outcome(api.UpdateSubUser(&call, reply), [&](Values &values) {
            ns1__SubUser *user = at(reply.Data, &ns1__UpdateSubUserResult::SubUser);
            values["SubUser.CanResolveSearches"] = text(at(user, &ns1__SubUser::CanResolveSearches));
            values["SubUser.Email"] = text(at(user, &ns1__SubUser::Email));
            values["SubUser.IsAdmin"] = text(at(user, &ns1__SubUser::IsAdmin));
            values["SubUser.IsMainUser"] = text(at(user, &ns1__SubUser::IsMainUser));
            values["SubUser.Name"] = text(at(user, &ns1__SubUser::Name));
            values["SubUser.UserId"] = text(at(user, &ns1__SubUser::UserId));
            // a pointer does not distinguish nil from absent
            for (const char *name : {"Email", "Name", "UserId"})
                values[std::string("SubUser.") + name + ".?"] =
                    values[std::string("SubUser.") + name] ? "value" : "absent";
            values["SubUser.UserName"] = text(at(user, &ns1__SubUser::UserName));
            arr__ArrayOfstring *permissions = at(user, &ns1__SubUser::Permissions);
            values["SubUser.Permissions"] = permissions == nullptr ? Text() : "array";
            if (permissions == nullptr) return;
            values["SubUser.Permissions.string.#"] = std::to_string(permissions->string.size());
            for (size_t i = 0; i < permissions->string.size(); i++)
                values["SubUser.Permissions.string." + std::to_string(i)] = permissions->string[i];
        });
    }

    Values update_valid_id() {
        _ns1__UpdateValidId call;
        call.Authentication = authentication;
        call.Request = soap_new_ns1__UpdateValidIdRequest(context);
        call.Request->Id = own(check.integer("Request.Id"));
        call.Request->ClientInResults = own(check.flag("Request.ClientInResults"));
        call.Request->ClientNotInResults = own(check.flag("Request.ClientNotInResults"));
        _ns1__UpdateValidIdResponse reply;
        return outcome(api.UpdateValidId(&call, reply), [&](Values &values) {
            values["Success"] = text(at(reply.Data, &ns1__UpdateValidIdResult::Success));
        });
    }

    Values add_client_template() {
        _ns1__AddClientTemplate call;
        call.Authentication = authentication;
        _ns1__AddClientTemplateResponse reply;
        return outcome(api.AddClientTemplate(&call, reply), [&](Values &values) {
            ns1__AddClientRequest *blank = at(reply.Data, &ns1__AddClientTemplateResult::Request);
            ns1__CreateMobileClientType *preset = at(blank, &ns1__AddClientRequest::ProofOfPreset);
            values["Request.ProofOfPreset"] =
                preset == nullptr ? Text() : soap_ns1__CreateMobileClientType2s(context, *preset);
            read_items<ns1__ArrayOfProofOfDocumentCategory, ns1__ProofOfDocumentCategory *>(
                values, "Request.ProofOfDocumentCategories.ProofOfDocumentCategory",
                at(blank, &ns1__AddClientRequest::ProofOfDocumentCategories),
                &ns1__ArrayOfProofOfDocumentCategory::ProofOfDocumentCategory,
                [&](const std::string &path, ns1__ProofOfDocumentCategory *category) {
                    values[path + "Id"] = text(category->Id);
                    values[path + "ProofOf"] = text(category->ProofOf);
                    read_items<ns1__ArrayOfProofOfDocument, ns1__ProofOfDocument *>(
                        values, path + "ProofOfDocuments.ProofOfDocument", category->ProofOfDocuments,
                        &ns1__ArrayOfProofOfDocument::ProofOfDocument,
                        [&](const std::string &path, ns1__ProofOfDocument *document) {
                            values[path + "Id"] = text(document->Id);
                            values[path + "Name"] = text(document->Name);
                        });
                });
            values["Request.Name"] = text(at(blank, &ns1__AddClientRequest::Name));
            read_items<ns1__ArrayOfLinkedTo, ns1__LinkedTo *>(
                values, "Request.LinkedTo.LinkedTo", at(blank, &ns1__AddClientRequest::LinkedTo),
                &ns1__ArrayOfLinkedTo::LinkedTo, [&](const std::string &path, ns1__LinkedTo *link) { read_link(values, path, link); });
        });
    }

    static void read_link(Values &values, const std::string &path, ns1__LinkedTo *link) {
        values[path + "Id"] = text(link->Id);
        values[path + "ClientId"] = text(link->ClientId);
        values[path + "Name"] = text(link->Name);
    }

    Values get_dbs_search() {
        _ns1__GetDbsSearch call;
        call.Authentication = authentication;
        call.Id = own(check.integer("Id"));
        call.SubUserName = optional("SubUserName");
        _ns1__GetDbsSearchResponse reply;
        return outcome(api.GetDbsSearch(&call, reply), [&](Values &values) {
            ns1__DbsSearchSummary *summary = at(reply.Data, &ns1__GetDbsSearchResult::Summary);
            ns1__ApplicantInformation *applicant = at(summary, &ns1__DbsSearchSummary::ApplicantInformation);
            values["Summary.Id"] = text(at(summary, &ns1__DbsSearchSummary::Id));
            values["Summary.Status"] = text(at(summary, &ns1__DbsSearchSummary::Status));
            values["Summary.ApplicantInformation.Name"] = text(at(applicant, &ns1__ApplicantInformation::Name));
            values["Summary.IsIdCheckCompleted"] = text(at(summary, &ns1__DbsSearchSummary::IsIdCheckCompleted));
            values["Summary.ApplicantInformation.ApplicantPin"] =
                text(at(applicant, &ns1__ApplicantInformation::ApplicantPin));
            read_items<ns1__ArrayOfLinkedTo, ns1__LinkedTo *>(
                values, "LinkedTo.LinkedTo", at(reply.Data, &ns1__GetDbsSearchResult::LinkedTo),
                &ns1__ArrayOfLinkedTo::LinkedTo,
                [&](const std::string &path, ns1__LinkedTo *link) { read_link(values, path, link); });
        });
    }

    Values renew_all_pep_searches() {
        _ns1__RenewAllPepSearches call;
        call.Authentication = authentication;
        call.Request = soap_new_ns1__RenewAllPepSearchesRequest(context);
        call.Request->RenewalDate = optional_date("Request.RenewalDate");
        _ns1__RenewAllPepSearchesResponse reply;
        return outcome(api.RenewAllPepSearches(&call, reply), [&](Values &values) {
            values["Count"] = text(at(reply.Data, &ns1__RenewAllPepSearchesResult::Count));
            values["RenewalDate"] = text(at(reply.Data, &ns1__RenewAllPepSearchesResult::RenewalDate));
            values["TotalCost"] = text(at(reply.Data, &ns1__RenewAllPepSearchesResult::TotalCost));
        });
    }

    Values delete_client() {
        _ns1__DeleteClient call;
        call.Authentication = authentication;
        call.Id = own(check.integer("Id"));
        _ns1__DeleteClientResponse reply;
        return outcome(api.DeleteClient(&call, reply), [&](Values &values) {
            ns1__ResponseStatus *status = at(reply.Data, &ns1__DeleteClientResult::ResponseStatus);
            values["ResponseStatus.ErrorCode"] = text(at(status, &ns1__ResponseStatus::ErrorCode));
            values["ResponseStatus.Message"] = text(at(status, &ns1__ResponseStatus::Message));
            read_items<ns1__ArrayOfResponseError, ns1__ResponseError *>(
                values, "ResponseStatus.Errors.ResponseError", at(status, &ns1__ResponseStatus::Errors),
                &ns1__ArrayOfResponseError::ResponseError, [&](const std::string &path, ns1__ResponseError *error) {
                    values[path + "ErrorCode"] = text(error->ErrorCode);
                    values[path + "FieldName"] = text(error->FieldName);
                    values[path + "Message"] = text(error->Message);
                });
            using Entry = _arr__ArrayOfKeyValueOfstringstring_KeyValueOfstringstring;
            read_items<arr__ArrayOfKeyValueOfstringstring, Entry>(
                values, "ResponseStatus.Meta.KeyValueOfstringstring", at(status, &ns1__ResponseStatus::Meta),
                &arr__ArrayOfKeyValueOfstringstring::KeyValueOfstringstring,
                [&](const std::string &path, Entry entry) {
                    values[path + "Key"] = text(entry.Key);
                    values[path + "Value"] = text(entry.Value);
                });
        });
    }

    Values get_search() {
        _ns1__GetSearch call;
        call.Authentication = authentication;
        call.Request = soap_new_ns1__GetSearchRequest(context);
        call.Request->Id = own(check.integer("Request.Id"));
        call.Request->OnlyShowUnresolvedResults = own(check.flag("Request.OnlyShowUnresolvedResults"));
        call.Request->SubUserName = optional("Request.SubUserName");
        _ns1__GetSearchResponse reply;
        return outcome(api.GetSearch(&call, reply), [&](Values &values) {
            ns1__SearchRecord *record = at(reply.Data, &ns1__GetSearchResult::SearchRecord);
            ns1__SearchCriteria *criteria = at(record, &ns1__SearchRecord::SearchCriteria);
            ns1__SearchResults *results = at(record, &ns1__SearchRecord::SearchResults);
            values["SearchRecord.Id"] = text(at(record, &ns1__SearchRecord::Id));
            values["SearchRecord.IsArchived"] = text(at(record, &ns1__SearchRecord::IsArchived));
            values["SearchRecord.SearchType"] = text(at(record, &ns1__SearchRecord::SearchType));
            values["SearchRecord.NumOfResults"] = text(at(record, &ns1__SearchRecord::NumOfResults));
            values["SearchRecord.SearchCriteria.Name"] = text(at(criteria, &ns1__SearchCriteria::Name));
            read_items<ns1__ArrayOfSearchResultEu, ns1__SearchResultEu *>(
                values, "SearchRecord.SearchResults.EuResults.SearchResultEu",
                at(results, &ns1__SearchResults::EuResults), &ns1__ArrayOfSearchResultEu::SearchResultEu,
                [&](const std::string &path, ns1__SearchResultEu *result) {
                    values[path + "ResultStrength"] = text(result->ResultStrength);
                    values[path + "ResultSimilarity"] = text(result->ResultSimilarity);
                    read_items<ns1__ArrayOfEuName, ns1__EuName *>(
                        values, path + "Names.EuName", result->Names, &ns1__ArrayOfEuName::EuName,
                        [&](const std::string &path, ns1__EuName *name) {
                            values[path + "FullName"] = text(name->FullName);
                            values[path + "Gender"] = text(name->Gender);
                        });
                });
        });
    }

    Values cost_renew_all_pep_searches() {
        _ns1__CostRenewAllPepSearches call;
        call.Authentication = authentication;
        call.Request = soap_new_ns1__CostRenewAllPepSearchesRequest(context);
        call.Request->RenewalDate = optional_date("Request.RenewalDate");
        _ns1__CostRenewAllPepSearchesResponse reply;
        return outcome(api.CostRenewAllPepSearches(&call, reply), [&](Values &values) {
            values["CanAfford"] = text(at(reply.Data, &ns1__CostRenewAllPepSearchesResult::CanAfford));
            values["Count"] = text(at(reply.Data, &ns1__CostRenewAllPepSearchesResult::Count));
            values["RenewalDate"] = text(at(reply.Data, &ns1__CostRenewAllPepSearchesResult::RenewalDate));
            values["TotalCost"] = text(at(reply.Data, &ns1__CostRenewAllPepSearchesResult::TotalCost));
        });
    }

    Values get_pdf() {
        _ns1__GetPdf call;
        call.Authentication = authentication;
        call.Request = soap_new_ns1__GetPdfRequest(context);
        call.Request->Id = own(LONG64(std::stoll(check.text("Request.Id"))));
        call.Request->SubUserName = optional("Request.SubUserName");
        _ns1__GetPdfResponse reply;
        return outcome(api.GetPdf(&call, reply), [&](Values &values) {
            ns1__PdfDocumentWithData *document = at(reply.Data, &ns1__GetPdfResult::Document);
            values["Document.DocumentBytes"] = text(at(document, &ns1__PdfDocumentWithData::DocumentBytes));
            values["Document.FileName"] = text(at(document, &ns1__PdfDocumentWithData::FileName));
            values["Document.Id"] = text(at(document, &ns1__PdfDocumentWithData::Id));
            values["Document.Name"] = text(at(document, &ns1__PdfDocumentWithData::Name));
            values["Document.IsReady"] = text(at(document, &ns1__PdfDocumentWithData::IsReady));
            values["Document.SanctionsSearchId"] = text(at(document, &ns1__PdfDocumentWithData::SanctionsSearchId));
        });
    }

    Values count_incomplete_clients() {
        _ns1__CountIncompleteClients call;
        call.Authentication = authentication;
        call.DaysIncomplete = own(check.integer("DaysIncomplete"));
        call.IsValidateMe = own(check.flag("IsValidateMe"));
        ns1__ClientState state;
        soap_s2ns1__ClientState(context, check.text("State").c_str(), &state);
        call.State = &state;
        _ns1__CountIncompleteClientsResponse reply;
        return outcome(api.CountIncompleteClients(&call, reply), [&](Values &values) {
            values["NumberOfIncompleteClients"] =
                text(at(reply.Data, &ns1__CountIncompleteClientsResult::NumberOfIncompleteClients));
        });
    }

    Values get_eula_status() {
        _ns1__GetEulaStatus call;
        call.Authentication = authentication;
        call.Request = soap_new_ns1__GetEulaStatusRequest(context);
        call.Request->SubUserName = optional("Request.SubUserName");
        _ns1__GetEulaStatusResponse reply;
        return outcome(api.GetEulaStatus(&call, reply), [&](Values &values) {
            values["AgreeToContact"] = text(at(reply.Data, &ns1__GetEulaStatusResult::AgreeToContact));
            values["AgreeToContactInfo"] = text(at(reply.Data, &ns1__GetEulaStatusResult::AgreeToContactInfo));
            values["AgreeToTerms"] = text(at(reply.Data, &ns1__GetEulaStatusResult::AgreeToTerms));
        });
    }

    Values get_valid_ids() {
        _ns1__GetValidIds call;
        call.Authentication = authentication;
        call.Request = soap_new_ns1__GetValidIdsRequest(context);
        call.Request->FilterDateFrom = optional_date("Request.FilterDateFrom");
        call.Request->FilterDateTo = optional_date("Request.FilterDateTo");
        call.Request->FilterReference = optional("Request.FilterReference");
        call.Request->FilterType = optional("Request.FilterType");
        call.Request->FilterUserName = optional("Request.FilterUserName");
        call.Request->NameSearch = optional("Request.NameSearch");
        call.Request->Page = own(check.integer("Request.Page"));
        call.Request->SortOrder = optional("Request.SortOrder");
        call.Request->SubUserName = optional("Request.SubUserName");
        _ns1__GetValidIdsResponse reply;
        return outcome(api.GetValidIds(&call, reply), [&](Values &values) {
            values["MaxPageNum"] = text(at(reply.Data, &ns1__GetValidIdsResult::MaxPageNum));
            values["CurrentPageNum"] = text(at(reply.Data, &ns1__GetValidIdsResult::CurrentPageNum));
            values["TotalSearchRecords"] = text(at(reply.Data, &ns1__GetValidIdsResult::TotalSearchRecords));
            read_items<ns1__ArrayOfValidIdListItem, ns1__ValidIdListItem *>(
                values, "SearchRecords.SearchRecord", at(reply.Data, &ns1__GetValidIdsResult::SearchRecords),
                &ns1__ArrayOfValidIdListItem::SearchRecord, [&](const std::string &path, ns1__ValidIdListItem *item) {
                    values[path + "DateSearched"] = date(item->DateSearched, check);
                    values[path + "Id"] = text(item->Id);
                    values[path + "Status"] = text(item->Status);
                    values[path + "Type"] = text(item->Type);
                });
        });
    }
};

} // namespace

int main(int, char **arguments) {
    run_checks(arguments[3], [](const Check &check) { return Caller(check).call(); });
}
