self typedef int t;
