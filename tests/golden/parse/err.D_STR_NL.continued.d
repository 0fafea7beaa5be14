BEGIN { printf("abc\
def"); }
