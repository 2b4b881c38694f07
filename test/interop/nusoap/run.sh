. ./patch.sh
exec php client.php "$@"
