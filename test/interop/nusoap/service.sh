. ./patch.sh
exec php service.php "$@"
