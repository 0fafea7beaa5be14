#line abc
#line
# 3 file.d
#line 7 "other file.d"
BEGIN { trace(nosuch); }
