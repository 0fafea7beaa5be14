/* What is wrong with an inline is told though nothing uses it, and once though two clauses do. */
inline int unused = nosuch + 1;
inline int two[int a, string b] = a + b;
BEGIN { trace(two[1, "x"]); }
END { trace(two[2, "y"]); }
