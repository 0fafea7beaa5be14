struct o { int a; struct o *next; };
translator struct o < struct o *P > { a = "text"; next = *P; };
translator struct o < void N > { a = 1; };
