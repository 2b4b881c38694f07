exec php -d soap.wsdl_cache_enabled=0 service.php "$@"
