#pragma D depends_on provider such
#pragma D depends_on provider nosuch
#pragma D depends_on module vmunix
#pragma D depends_on library errno.d
BEGIN { }
