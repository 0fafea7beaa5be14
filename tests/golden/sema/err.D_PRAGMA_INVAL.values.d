#pragma D attributes Steady/Stable/Common name
#pragma D attributes Stable/Stable/Common provider disk arguments
#pragma D binding "one" name
#pragma D depends_on person somebody
#pragma D options quiet
BEGIN { }
