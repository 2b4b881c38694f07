exec perl -I../perl service.pl "$@"
