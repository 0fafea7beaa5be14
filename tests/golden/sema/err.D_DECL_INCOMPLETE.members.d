struct s;
enum e;
struct t { struct s m; struct t self_; struct s *fine; };
struct s a[2];
enum e v;
inline struct s i = 0;
BEGIN { }
