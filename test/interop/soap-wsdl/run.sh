exec perl -I../perl -I"$3" client.pl
