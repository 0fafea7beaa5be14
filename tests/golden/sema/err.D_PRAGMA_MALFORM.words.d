#pragma D attributes Stable/Stable/Common
#pragma D attributes Stable/Stable/Common provider disk
#pragma D binding 1.2 name
#pragma D depends_on provider
#pragma D option quiet now
#pragma D option
BEGIN { }
