int a[void];
int b[int, void named];
BEGIN { }
