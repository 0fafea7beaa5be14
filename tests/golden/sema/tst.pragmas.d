#pragma D option quiet
#pragma D option bufsize=4m
#pragma ident "x"
# 5 "file.d"
#pragma D attributes Stable/Stable/Common provider x
BEGIN { }
