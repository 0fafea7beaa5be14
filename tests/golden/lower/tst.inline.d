inline int ANSWER = 6 * 7; inline int add[int a, int b] = a + b;
BEGIN { trace(ANSWER); x = 1; trace(add[x, 3]); }
