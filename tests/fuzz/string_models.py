"""Models of D's subroutines of strings: in C, for a program beside the D program, and in Python where the answer is a constant."""

import ipaddress

STRINGS = """
static const char *d_keep(const char *s, long n) { char *t = calloc(1, n + 1); return memcpy(t, s, n); }
static const char *d_join(const char *a, const char *b) { char *t = malloc(strlen(a) + strlen(b) + 1); return strcat(strcpy(t, a), b); }
static const char *d_number(long n) { char t[32]; sprintf(t, "%ld", n); return d_keep(t, strlen(t)); }
static const char *d_part(const char *s, long first, long most) {
  long n = strlen(s);
  if (first < 0) { first += n; if (first < 0 && first + most > 0) { most += first; first = 0; } }
  if (first < 0 || first >= n || most <= 0) return "";
  return d_keep(s + first, most < n - first ? most : n - first);
}
static const char *d_basename(const char *s) { return basename(strdup(s)); }
static const char *d_dirname(const char *s) { s = dirname(strdup(s)); return strcmp(s, "//") ? s : "/"; }
static const char *d_toupper(const char *s) { char *t = strdup(s); for (char *c = t; *c; c++) *c = toupper(*c); return t; }
static const char *d_tolower(const char *s) { char *t = strdup(s); for (char *c = t; *c; c++) *c = tolower(*c); return t; }
static const char *d_found(const char *s, const char *t) { const char *at = strstr(s, t); return at ? at : "none"; }
static long d_index(const char *s, const char *t) { const char *at = strstr(s, t); return at ? at - s : -1; }
static long d_rindex(const char *s, const char *t) {
  for (long at = (long)strlen(s) - (long)strlen(t); at >= 0; at--) if (strncmp(s + at, t, strlen(t)) == 0) return at;
  return -1;
}
static long d_index_from(const char *s, const char *t, long first) {
  long n = strlen(s);
  if (first < 0) first = 0;
  if (first >= n) return *t ? -1 : n;
  return d_index(s + first, t) < 0 ? -1 : first + d_index(s + first, t);
}
static long d_rindex_from(const char *s, const char *t, long last) {
  if (last < 0) return *t ? -1 : 0;
  for (long at = last < (long)strlen(s) ? last : (long)strlen(s); at >= 0; at--) if (strncmp(s + at, t, strlen(t)) == 0) return at;
  return -1;
}
static const char *d_or_none(const char *s) { return s ? s : "none"; }
static const char *d_strchr(const char *s, int c) { return d_or_none(strchr(s, c)); }
static const char *d_strrchr(const char *s, int c) { return d_or_none(strrchr(s, c)); }
static const char *d_token(const char *s, const char *set) { return d_or_none(strtok(s ? strdup(s) : NULL, set)); }
static const char *d_based(long n, unsigned long base) {
  unsigned long rest = base == 10 && n < 0 ? -(unsigned long)n : n;
  char *t = (char *)calloc(1, 80) + 78;
  do *--t = "0123456789abcdefghijklmnopqrstuvwxyz"[rest % base]; while (rest /= base);
  if (base == 16) *--t = 'x';
  if (base == 16 || (base == 8 && n != 0)) *--t = '0';
  if (base == 10 && n < 0) *--t = '-';
  return t;
}
static int d_is_up(const char *s, long n) { return n == 2 && s[0] == '.' && s[1] == '.'; }
static const char *d_cleanpath(const char *s) {
  int is_any = *s;
  char *t = calloc(1, strlen(s) + 2), *root = t + (*s == '/'), *end = root;
  if (*s == '/') *t = '/';
  for (const char *next; *s; s = next) {
    next = s + strcspn(s, "/");
    char *last = end;
    while (last > root && last[-1] != '/') last--;
    if (d_is_up(s, next - s) && (root > t || end > root) && !d_is_up(last, end - last)) end = last > root ? last - 1 : root;
    else if (next > s && !(next - s == 1 && *s == '.')) end = (char *)mempcpy(end > root ? (*end = '/', end + 1) : end, s, next - s);
    if (*next) next++;
    *end = 0;
  }
  return end > root || root > t || !is_any ? t : ".";
}
"""


def address(groups):
    """Eight groups of an IPv6 address: as inet_ntoa6() shows it, and in full."""
    last = groups[6] << 16 | groups[7]
    if any(groups[:5]) or groups[5] not in (0, 0xffff) or (groups[5] == 0 and last < 2):
        text = str(ipaddress.IPv6Address(b"".join(group.to_bytes(2, "big") for group in groups)))
        return text, text
    embedded = str(ipaddress.IPv4Address(last))
    return embedded, ("::ffff:" if groups[5] else "::") + embedded


def random_json(rng, depth):
    """A value and its text, with blanks at any place between its parts."""
    blank = lambda: " " * rng.choice((0, 0, 0, 1))
    kind = rng.choice(("number", "word", "string") + ("object", "array") * 2 * (depth > 0))
    if kind in ("object", "array"):
        inner = [random_json(rng, depth - 1) for _ in range(rng.randrange(1, 4))]
        if kind == "array":
            return [value for value, _ in inner], ["[" + blank(), [text for _, text in inner], blank() + "]", blank() + "," + blank()]
        names = rng.sample(("a", "b", "ab", "x y", "1"), len(inner))
        texts = [[f'"{name}"{blank()}:{blank()}', [text], "", ""] for name, (_, text) in zip(names, inner)]
        return dict(zip(names, (value for value, _ in inner))), ["{" + blank(), texts, blank() + "}", blank() + "," + blank()]
    text = {"number": str(rng.choice((0, -1, 7, 123456789, 1.5, "2e3"))), "word": rng.choice(("true", "false", "null")),
            "string": '"' + "".join(rng.choice(("a", " ", ",", "]", "}", ":", '\\"', "\\\\", "\\n")) for _ in range(rng.randrange(4))) + '"'}[kind]
    return text, text


def json_text(text):
    """The text of a nested list of texts."""
    if isinstance(text, str):
        return text
    opening, parts, closing, comma = text
    return opening + comma.join(json_text(part) for part in parts) + closing


def json_step(rng, value, text):
    """A way into a value: the path, and the text of what lies there, None if nothing does."""
    if isinstance(value, str) or rng.randrange(4) == 0:
        return "", text
    if isinstance(value, list):
        at = rng.randrange(len(value) + 1)
        rest, found = json_step(rng, value[at], text[1][at]) if at < len(value) else ("", None)
        return f"[{at}]{rest}", found
    name = rng.choice([*value, "nobody"])
    if name not in value:
        return ".nobody", None
    at = list(value).index(name)
    rest, found = json_step(rng, value[name], text[1][at][1][0])
    return f".{name}{rest}", found


def json_question(rng):
    """A JSON text, a path that is not empty, and what json() shows there."""
    while True:
        value, text = random_json(rng, 3)
        path, found = json_step(rng, value, text)
        if path and len(json_text(text)) < 200:
            shown = "none" if found is None else json_text(found)
            return json_text(text), path.lstrip("."), shown[1:-1] if shown.startswith('"') else shown
