struct in { int a; int b[4]; }; struct out { struct in m; struct in *p; } v; int arr[4]; struct in assoc[int];
BEGIN { a = &v.m.a; b = &v.m.b[2]; c = &arr[1]; d = &v.m; e = &assoc[1].a; f = &v.p->b; g = &*d; h = "text" + 1; }
