exec php client.php "$@"
