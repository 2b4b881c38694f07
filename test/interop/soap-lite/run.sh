exec perl -I../perl client.pl "$@"
