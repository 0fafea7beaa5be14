struct s { int count; union { int first; char second[4]; struct { int third; }; }; } v;
BEGIN { v.cuont; v.thrid; v.second[1]; offsetof(struct s, frist); offsetof(struct s, third); }
