# Entries that wsdl2perl omits from its typemap: a reply's header block, a member of a derived type, an element of xs:any.
'QuotaHeader' => 'AdoptedElements::QuotaHeader',
'QuotaHeader/callsLeft' => 'SOAP::WSDL::XSD::Typelib::Builtin::int',
'GetOrderResponse/GetOrderResult/Customer/VatId' => '__SKIP__',
'GetOrderResponse/GetOrderResult/crate' => '__SKIP__',
