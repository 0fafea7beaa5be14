struct o { int a; };
struct i { int b; };
translator struct o < struct i *I > { c = I->b; };
