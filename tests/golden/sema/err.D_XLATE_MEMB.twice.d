struct o { int a; };
struct i { int b; int c; };
translator struct o < struct i *I > { a = I->b; a = I->c; };
