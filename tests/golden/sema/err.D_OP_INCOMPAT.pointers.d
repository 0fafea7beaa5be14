int *i; long *l; void *v; int i2; struct s { int a; } s; struct t { int a; } t; char *c; int **ii; int32_t **same; string str; float f; double d[2];
BEGIN
{
  i == l; i == 5; i2 = i; i = 5; i = l; v + 1; 1 + v; i + i; i - l; 1 - i; s = t; s == t; str + str; str = i; i = str;
  i == 0; i = NULL; v = l; l = v; ii = same; c = str; str = c; str == 0; str = 0; i2 == NULL; c - str; str + 1; i2 = NULL;
  pid ? i : l; pid ? s : t; pid ? i : 0; pid ? v : i; pid ? str : c; pid ? 5 : i;
  f + 1; f == f; f * 2; -f; !f; f++; f = d[0]; f %= 3; f = f; i += i; c += "x"; str += 1; i2 += s;
}
