/* Arguments: 12, text, "a b", a quoted string, -7, and a large one. */
#pragma D option strsize=$1
BEGIN { number = $1; string_of_number = $$1; text = 3; other = $2; spaced = $3; quoted = $4; name = $0; negative = $5; }
BEGIN { process = $pid; as_string = $$pid; }
pid$target:$2::entry { }
