exec php service.php "$@"
