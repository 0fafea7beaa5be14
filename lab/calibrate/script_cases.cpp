// The cases of rows that scripts measure. Covered by tests/runtime/scenarios/test_calibrate.py, whose quick calibration runs
// all of them.

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "dvm/dif/action.h"
#include "dvm/vm/operands.h"
#include "lab/calibrate/script_meter.h"
#include "runtime/cost/predict.h"

namespace dvm::lab {

using namespace runtime;
namespace {

constexpr unsigned kFewLetters = kExecnameBytes - 1, kManyLetters = 197;
constexpr unsigned kMore = 4;                        // uses of what is small beside the noise of a firing
constexpr std::string_view kNothing = "P{ arg0; }";  // one ECB that evaluates a little

// The call of an aggregating function, by its prototype.
std::string call_of(const dif::AggregationInfo& function) {
  if (function.id == dif::Action::agg_count) return "count()";
  if (function.id == dif::Action::agg_lquantize) return "lquantize(arg1, 0, 100, 10)";
  if (function.id == dif::Action::agg_llquantize) return "llquantize(arg1, 10, 0, 6, 10)";
  return fmt::format("{}(arg1)", function.name);
}

std::string literal(unsigned letters) { return "\"" + std::string(letters, 'x') + "\""; }

// Values that are kept, by scripts that keep one more, or a longer one.
std::vector<ScriptCase> kept_values() {
  const std::string few = literal(kFewLetters), many = literal(kManyLetters);
  const double longer = kManyLetters - kFewLetters;
  const auto printed = [](const std::string& format, const std::string& values) {
    return fmt::format("P{{ arg0; printf(\"{}\", {}); }}", format, values);
  };
  const auto counted = [](const std::string& keys) { return fmt::format("P{{ arg0; @[{}] = count(); }}", keys); };
  const auto counted_by_both = [](const std::string& key, const std::string& other) {
    return repeated("P{ arg0; ", fmt::format("@a{{}}[{}] = count(); @b{{}}[{}] = count(); ", key, other), kMore / 2, "}");
  };
  return {
      {"record/integer"_row, printed("%d %d %d %d %d", "arg1, arg2, arg1, arg2, arg1"), printed("%d", "arg1"), 0, false, kMore},
      {"record/string"_row, printed("%d %s", "arg1, " + many), printed("%d %s", "arg1, " + few), longer},
      {"record/string"_row, "P{ trace(execname); }", "P{ trace(arg1); }"},  // behind a number it takes more
      {"key/integer"_row, counted("arg1, arg2"), counted("arg1")},
      {"key/string"_row, counted("arg1, " + many), counted("arg1, " + few), longer},
      {"key/string"_row, counted_by_both("execname", few), counted_by_both("arg1", "arg1"), 0, false, kMore},
  };
}

// Several sums or assignments in a firing.
std::string sums_of(const std::string& value) { return repeated("P{ ", fmt::format("@s{{}} = sum({}); ", value), kMore, "}"); }
std::string arrays_by(const std::string& key) { return repeated("P{ ", fmt::format("a{{}}[{}] = 1; ", key), kMore, "}"); }

// Operands of instructions. A DIF text that does nothing else lets the processor find several strings at a time; a script makes
// it wait for each.
std::vector<ScriptCase> operands() {
  const std::string few = literal(kFewLetters), many = literal(kManyLetters);
  const auto strlen_of = [](const std::string& text) { return fmt::format("strlen({})", text); };
  const double longer = kManyLetters - kFewLetters;
  const auto stored = [](const std::string& variable, const std::string& value) {
    return repeated("P{ ", fmt::format("{} = {}; ", variable, value), kMore, "}");
  };
  const auto stored_and_read = [&](const std::string& read) {
    return repeated("P{ ", fmt::format("this->v{{}} = {}; @s{{}} = sum(strlen({})); ", few, read), kMore, "}");
  };
  return {
      {row_of(vm::StringPlace::name), sums_of(strlen_of("execname")), sums_of(strlen_of(few)), 0, false, kMore},
      {"opcode/scmp"_row, sums_of("execname == " + few), sums_of("arg1 == 5"), 0, false, kMore},
      {"opcode/stls_ref"_row, stored("this->v{}", "execname"), stored("this->v{}", "arg1"), 0, false, kMore},
      {"opcode/stgs_ref"_row, stored("v{}", "execname"), stored("v{}", "arg1"), 0, false, kMore},
      {"opcode/stts_ref"_row, stored("self->v{}", "execname"), stored("self->v{}", "arg1"), 0, false, kMore},
      {"opcode/stgaa_ref"_row, stored("v{}[arg1]", "execname"), stored("v{}[arg1]", "arg1"), 0, false, kMore},
      {"opcode/sttaa_ref"_row, stored("self->v{}[arg1]", "execname"), stored("self->v{}[arg1]", "arg1"), 0, false, kMore},
      {"opcode/stts"_row, stored("self->n{}", "arg1"), stored("n{}", "arg1"), 0, false, kMore},
      {"opcode/stgaa"_row, stored("n{}[arg1]", "arg1"), stored("n{}", "arg1"), 0, false, kMore},
      {row_of(vm::StringPlace::local), stored_and_read("this->v{}"), stored_and_read(few), 0, false, kMore},
      {"tuple/string"_row, arrays_by(many), arrays_by(few), longer * kMore},
      {"tuple/string"_row, arrays_by(few), arrays_by("arg1"), 0, false, kMore},
  };
}

// Variables that are looked up: those that do not exist, and then those that do.
std::vector<ScriptCase> looked_up() {
  struct Variable {
    Row row;
    std::string declaration, text;
  };
  const Variable variables[] = {{"opcode/ldts"_row, "self int t{}; ", "self->t{}"},
                                {"opcode/ldgaa"_row, "int t{}[int]; ", "t{}[arg1]"},
                                {"opcode/ldtaa"_row, "self int t{}[int]; ", "self->t{}[arg1]"}};
  std::vector<ScriptCase> cases;
  for (const auto& [row, declaration, text] : variables) {
    const std::string declared = repeated("", declaration, kMore), stored = repeated("P{ ", text + " = arg1; ", kMore);
    const auto summed = [](const std::string& value) { return repeated("", "@s{} = sum(" + value + "); ", kMore, "}"); };
    ScriptCase made{row, declared + sums_of(text), declared + sums_of("arg1"), 0, false, kMore};
    made.exists = false;
    cases.push_back(made);
    made = {row, declared + stored + summed(text), declared + stored + summed("arg1"), kMore};
    made.exists = true;
    cases.push_back(made);
  }
  return cases;
}

// Loads and stores of members of a structure that is a variable, beside variables: a DIF text has scratch only.
std::vector<ScriptCase> members() {
  struct Access {
    Row load;
    std::optional<Row> store;
    std::string type;
  };
  const Access accesses[] = {{"opcode/ldsb"_row, {}, "int8_t"},
                             {"opcode/ldsh"_row, {}, "int16_t"},
                             {"opcode/ldsw"_row, {}, "int32_t"},
                             {"opcode/ldub"_row, "opcode/stb"_row, "uint8_t"},
                             {"opcode/lduh"_row, "opcode/sth"_row, "uint16_t"},
                             {"opcode/lduw"_row, "opcode/stw"_row, "uint32_t"},
                             {"opcode/ldx"_row, "opcode/stx"_row, "uint64_t"}};
  std::vector<ScriptCase> cases;
  for (const auto& [load, store, type] : accesses) {
    const std::string declared =
        repeated("struct made_up { ", type + " m{}; ", kMore, "}; struct made_up s; ") + repeated("", "int64_t g{}; ", kMore);
    const auto stored = [&](const char* to) { return repeated(declared + "P{ ", fmt::format("{} = arg1; ", to), kMore, "}"); };
    cases.push_back({load, declared + sums_of("s.m{}"), declared + sums_of("g{}"), 0, false, kMore});
    if (store) cases.push_back({*store, stored("s.m{}"), stored("g{}"), 0, false, kMore});
  }
  return cases;
}

// Variables that dvm looks up for the process: a DIF text has no process.
std::vector<ScriptCase> asked_of_process() {
  std::vector<ScriptCase> cases;
  for (const auto& [row, name] :
       {std::pair("variable/ppid"_row, "ppid"), {"variable/uid"_row, "uid"}, {"variable/gid"_row, "gid"}})
    cases.push_back({row, sums_of(name), sums_of("arg1"), 0, false, kMore});
  return cases;
}

// Subroutines on strings, likewise: their result is read at once. Their price of a byte is known by then.
std::vector<ScriptCase> string_subroutines() {
  const std::string few = literal(kFewLetters);
  // What they return is a key, too, and so has as many letters.
  const std::string directory(kFewLetters - 1, 'x'), long_base = "\"/usr/lib/x" + directory + "\"",
                                                     long_directory = "\"/" + directory + "/yy\"";
  const std::vector<std::pair<Row, std::string>> made = {
      {"subroutine/strjoin"_row, fmt::format("({}, \"yy\")", few)},
      {"subroutine/lltostr"_row, "(arg1)"},
      {"subroutine/basename"_row, "(" + long_base + ")"},
      {"subroutine/dirname"_row, "(" + long_directory + ")"},
      {"subroutine/cleanpath"_row, "(\"/" + directory + "\")"},
      {"subroutine/substr"_row, fmt::format("({}, 1, 12)", few)},
      {"subroutine/toupper"_row, "(" + few + ")"},
      {"subroutine/tolower"_row, "(" + few + ")"},
  };
  const std::vector<std::pair<Row, std::string>> found = {
      {"subroutine/strstr"_row, "\"zz\""}, {"subroutine/strchr"_row, "'z'"}, {"subroutine/strrchr"_row, "'z'"}};
  std::vector<ScriptCase> cases;
  for (const auto& [row, arguments] : made)
    cases.push_back(
        {row, fmt::format("P{{ @[{}{}] = count(); }}", row.text().name, arguments), fmt::format("P{{ @[{}] = count(); }}", few)});
  for (const auto& [row, wanted] : found)
    cases.push_back(
        {row, sums_of(fmt::format("{}({}, {}) != NULL", row.text().name, few, wanted)), sums_of("arg1"), 0, false, kMore});
  const std::string copied = "copyinstr(arg2)";
  const auto traced = [](const std::string& value) { return fmt::format("P{{ trace({}); }}", value); };
  const auto counted = [](const std::string& key) { return fmt::format("P{{ @[{}] = count(); }}", key); };
  cases.push_back({.row = "subroutine/copyinstr"_row, .with = traced(copied), .without = traced(few), .memory = kFewLetters});
  cases.push_back(
      {.row = row_of(vm::StringPlace::captured), .with = counted(copied), .without = counted(few), .memory = kFewLetters});
  return cases;
}

constexpr unsigned kManyDigits = 14;  // as addresses have

// Steps of the consumer. The last row is the rest of a record when the others are known.
std::vector<ScriptCase> printing() {
  const auto printed = [](const std::string& value) { return fmt::format("P{{ arg0; printf(\"%s\", {}); }}", value); };
  const auto traced = [](const std::string& value) { return fmt::format("P{{ arg0; trace({}); }}", value); };
  const auto numbers = [](unsigned count, const std::string& number) {
    return fmt::format("P{{ arg0; printf(\"{}\\n\"{}); }}", repeated("", " %d", count, ""),
                       repeated("", ", " + number, count, ""));
  };
  const std::string usual(kUsualDigits, '7'), longer(kManyDigits, '7');
  return {
      {"consumer/value"_row, numbers(kMore, longer), numbers(kMore, usual), kMore * (kManyDigits - kUsualDigits), true},
      {"consumer/value"_row, numbers(kMore + 1, usual), numbers(1, usual), 0, true, kMore},
      {"consumer/action"_row, repeated("P{ arg0; ", "trace(77777); ", kMore + 1, "}"), "P{ arg0; trace(77777); }", 0, true,
       kMore},
      {"consumer/printf"_row, repeated("P{ arg0; ", "printf(\"%d\\n\", 77777); ", kMore + 1, "}"),
       "P{ arg0; printf(\"%d\\n\", 77777); }", 0, true, kMore},
      {"consumer/record"_row, printed(literal(kManyLetters)), printed(literal(kFewLetters)), kManyLetters - kFewLetters, true},
      {"consumer/string"_row, traced(literal(kFewLetters)), traced(usual), 0, true},
      {"consumer/record"_row, "P{ arg0; trace(77777); }", std::string(kNothing), 0, true},
  };
}

// An aggregation of so many keys, before the firings.
std::string with_keys(unsigned keys, const std::string& call) {
  return repeated("dtrace:::BEGIN { ", "@[{}] = count(); ", keys, "} ") + fmt::format("P{{ arg0; {}; }}", call);
}

constexpr unsigned kManyKeys = 65;
constexpr uint64_t kSlow = 500, kQuick = 5'000;  // firings, by what the consumer does at each

// Steps on an aggregation. Keys that trunc() has dropped are gone, so its price of a key is measured at the end.
std::vector<ScriptCase> consumed_aggregations() {
  const std::string nothing = with_keys(kPrintedKeys, "1");
  const auto once = [&](Row row, const std::string& call) {
    return ScriptCase{
        .row = row, .with = with_keys(kPrintedKeys, call), .without = nothing, .is_consumer = true, .most_firings = kQuick};
  };
  const auto by_key = [](Row row, const std::string& call, uint64_t firings) {
    return ScriptCase{.row = row,
                      .with = with_keys(kManyKeys, call),
                      .without = with_keys(kPrintedKeys, call),
                      .bytes = kManyKeys - kPrintedKeys,
                      .is_consumer = true,
                      .most_firings = firings};
  };
  const std::string keys = "dtrace:::BEGIN { @[0] = count(); printa(@); } P{ arg0; @[rand()] = count(); } ";
  return {
      by_key("consumer/printa"_row, "printa(@)", kSlow),
      once("consumer/printa"_row, "printa(@)"),
      by_key("consumer/clear"_row, "clear(@)", kQuick),
      once("consumer/clear"_row, "clear(@)"),
      once("consumer/trunc"_row, "trunc(@)"),
      {.row = "consumer/trunc"_row,
       .with = keys + "dtrace:::END { trunc(@); }",
       .without = keys,
       .bytes = 1,
       .is_consumer = true,
       .most_firings = kQuick},
      once("consumer/normalize"_row, "normalize(@, 2)"),
      once("consumer/denormalize"_row, "denormalize(@)"),
  };
}

constexpr unsigned kShallow = 4, kDeep = 24;  // frames
constexpr unsigned kFewBytes = 16, kManyBytes = 256;

// Stacks, symbols, memory and structures as text. Symbols were found before, as they are in a long run.
std::vector<ScriptCase> printed_values() {
  const auto stack = [](unsigned frames) { return fmt::format("P{{ arg0; ustack({}); }}", frames); };
  const auto dump = [](unsigned bytes) {
    return fmt::format("P{{ this->s = alloca({}); tracemem(this->s, {}); }}", kManyBytes, bytes);
  };
  const auto structure = [](unsigned members) {
    return repeated("struct made_up { ", "int member_{}; ", members, "}; ") +
           fmt::format("P{{ this->s = (struct made_up *)alloca({}); print(*this->s); }}", kManyBytes);
  };
  const double longer = sizeof(int) * (kDeep - kShallow);
  std::vector<ScriptCase> cases = {
      {"consumer/stack"_row, "P{ arg0; stack(); }", std::string(kNothing), 0, true, 1, 0, 0, kQuick},
      {"consumer/ustack"_row, stack(kDeep), stack(kShallow), kDeep - kShallow, true, 1, 0, kDeep, kSlow},
      {"consumer/ustack"_row, stack(1), std::string(kNothing), 0, true, 1, 0, kDeep, kQuick},
      {"consumer/tracemem"_row, dump(kManyBytes), dump(kFewBytes), kManyBytes - kFewBytes, true, 1, 0, 0, kSlow},
      {"consumer/tracemem"_row, dump(kFewBytes), std::string(kNothing), 0, true, 1, 0, 0, kQuick},
      {"consumer/print"_row, structure(kDeep), structure(kShallow), longer, true, 1, 0, 0, kSlow},
      {"consumer/print"_row, "P{ arg0; print(arg1); }", std::string(kNothing), 0, true, 1, 0, 0, kQuick},
  };
  for (const Row row : {"consumer/uaddr"_row, "consumer/usym"_row, "consumer/umod"_row, "consumer/ufunc"_row, "consumer/sym"_row,
                        "consumer/func"_row, "consumer/mod"_row})
    cases.push_back(
        {row, fmt::format("P{{ arg0; {}(arg2); }}", row.text().name), std::string(kNothing), 0, true, 1, 0, 0, kQuick});
  return cases;
}

constexpr uint64_t kActing = 20'000;  // firings of scripts with actions that act

// Speculations, exit() (once in a run) and chill(). A speculation that ends where it was taken is free again at once, so one is
// enough. discard() is measured on one that is not in use; the rest belongs to speculation(). commit() is measured beside it.
std::vector<ScriptCase> acting() {
  constexpr unsigned kDiscards = 4, kExits = 64;
  constexpr unsigned kRuns = 31;       // of what happens once in a run
  constexpr double kLonger = 256 - 8;  // bytes of a string's room, beyond a number
  const std::string takes = "P{ arg0; this->id = speculation(); ", discards = "P{ discard(this->id); }",
                    commits = "P{ commit(this->id); }", nothing(kNothing);
  const auto traced = [&](const char* value) { return fmt::format("{}speculate(this->id); trace({}); }} ", takes, value); };
  std::vector<ScriptCase> cases = {
      {.row = "action/discard"_row,
       .with = repeated("P{ arg0; ", "discard(1); ", kDiscards, "}"),
       .without = nothing,
       .uses = kDiscards,
       .is_read = false},
      {"subroutine/speculation"_row, takes + "} " + discards, "P{ arg0; this->id = 1; } " + discards},
      {"action/speculate"_row, traced("arg1") + discards, takes + "trace(arg1); } " + discards},
      {"action/commit"_row, traced("arg1") + commits, traced("arg1") + discards},
      {"action/commit"_row, traced("execname") + commits, traced("execname") + discards, kLonger},
      {.row = "action/exit"_row,
       .with = repeated("P{ arg0; ", "exit(0); ", kExits + 1, "}"),
       .without = "P{ arg0; exit(0); }",
       .uses = kExits,
       .most_firings = 1,
       .least_samples = kRuns},
      {"action/chill"_row, "P{ arg0; chill(0); }", nothing},
  };
  for (ScriptCase& one : cases) one.may_act = true, one.most_firings = std::min(one.most_firings, kActing);
  return cases;
}

// Actions of the consumer on dvm's own output, a file without a name. The probe side of such an action is its record.
struct ConsumedAction {
  Row recorded, consumed;
  const char* call;
  uint64_t most_firings;  // that are consumed
};
constexpr ConsumedAction kConsumed[] = {
    {"action/system"_row, "consumer/system"_row, "system(\":\")", 10},
    {"action/freopen"_row, "consumer/freopen"_row, "freopen(\"/dev/null\")", 500},
    {"action/ftruncate"_row, "consumer/ftruncate"_row, "ftruncate()", 500},
    {"action/setopt"_row, "consumer/setopt"_row, "setopt(\"aggsortrev\")", 500},
};

std::vector<ScriptCase> on_output() {
  static const std::string file = fmt::format("/proc/self/fd/{}", memfd_create("dvm-calibrate", MFD_CLOEXEC));
  const std::string begin = fmt::format("dtrace:::BEGIN {{ freopen(\"{}\"); }} ", file), without = begin + std::string(kNothing);
  std::vector<ScriptCase> cases;
  for (const ConsumedAction& one : kConsumed) {
    ScriptCase made{.row = one.recorded, .with = fmt::format("{}P{{ arg0; {}; }}", begin, one.call), .without = without};
    made.most_firings = kActing, made.is_read = false, made.may_act = true;
    cases.push_back(made);
    made.row = one.consumed, made.is_consumer = made.is_read = true, made.most_firings = one.most_firings;
    cases.push_back(made);
  }
  return cases;
}

void append(std::vector<ScriptCase>& to, std::vector<ScriptCase> more) {
  for (ScriptCase& one : more) to.push_back(std::move(one));
}

// An argument of this type; empty: the format asks for it.
std::string argument_of(dif::ArgumentType type) {
  using Type = dif::ArgumentType;
  static const std::map<Type, std::string> arguments = {
      {Type::number, "2"},    {Type::string, literal(kFewLetters)}, {Type::bytes, "alloca(16)"},
      {Type::constant, "16"}, {Type::format, "\"%d\\n\", arg1"},    {Type::aggregation, "@"},
      {Type::formatted, ""}};
  const auto found = arguments.find(type);
  return found == arguments.end() ? "arg1" : found->second;
}

// A call with the arguments that must be there, beside a firing without it.
ScriptCase action_case(const dif::ActionInfo& action) {
  std::string arguments, before = "arg0; ";
  for (const dif::Argument& argument : action.arguments) {
    const std::string text = argument.is_optional ? "" : argument_of(argument.type);
    if (text.empty()) continue;
    arguments += (arguments.empty() ? "" : ", ") + text;
    if (argument.type == dif::ArgumentType::aggregation) before += "@ = count(); ";
  }
  return {row_of(action), fmt::format("P{{ {}{}({}); }}", before, action.name, arguments), fmt::format("P{{ {}}}", before)};
}

// The actions that no other case or meter measures, by their prototypes. What a destructive one does is not known here.
std::vector<ScriptCase> other_actions(const std::vector<ScriptCase>& known) {
  constexpr Row kMeasuredElsewhere[] = {"action/ustack"_row};
  const auto is_known = [&](Row row) {
    return std::any_of(known.begin(), known.end(), [&](const ScriptCase& one) { return one.row == row; }) ||
           std::find(std::begin(kMeasuredElsewhere), std::end(kMeasuredElsewhere), row) != std::end(kMeasuredElsewhere);
  };
  std::vector<ScriptCase> cases;
  for (const dif::ActionInfo& action : dif::kActions)
    if (action.unsupported.empty() && !action.destructive && !is_known(row_of(action))) cases.push_back(action_case(action));
  return cases;
}

}  // namespace

std::string repeated(std::string_view begin, std::string_view part, unsigned times, std::string_view end) {
  std::string text(begin);
  for (unsigned i = 0; i < times; i++) {
    size_t at = text.size();
    text += part;
    while ((at = text.find("{}", at)) != std::string::npos) text.replace(at, 2, std::to_string(i));
  }
  return text + std::string(end);
}

// Clause-local variables of a clause that starts so, set and then read, as scripts use them. Each script has as many sums.
std::vector<ScriptCase> locals_in(const std::string& clause) {
  constexpr unsigned kMost = kMore + 1;
  const auto using_them = [&](unsigned count) {
    return repeated("", "this int v{}; ", count) + repeated(clause, "this->v{} = arg1; ", count) +
           repeated("", "@v{} = sum(this->v{}); ", count) + repeated("", "@w{} = sum(arg1); ", kMost - count, "}");
  };
  return {{"prepare/locals"_row, using_them(1), using_them(0)}, {"prepare/locals"_row, using_them(kMost), using_them(1), kMore}};
}

// Values that are evaluated: opcode/ret is the price of a DIFO beyond its other instructions.
std::vector<ScriptCase> evaluations() {
  return {{"opcode/ret"_row, sums_of("arg1 + arg2"), sums_of("arg1"), 0, false, kMore},
          {"action/expression"_row, repeated("P{ arg0; ", "v{} = arg1; ", kMore, "}"), std::string(kNothing), 0, false, kMore}};
}

// A clause whose machine code needs the machine state, as it does for `id`. The value must be used, or there is no code for it.
std::vector<ScriptCase> native_preparation() {
  const std::string prepared = "P{ @ = sum(id); ";
  std::vector<ScriptCase> cases = {{"prepare/dif"_row, prepared + "}", "P{ @ = sum(arg1); }"}};
  append(cases, locals_in(prepared));
  return cases;
}

// Divisions of arguments: LLVM makes constants of what a DIF text divides.
std::vector<ScriptCase> native_divisions() {
  const std::string added = sums_of("arg1 + arg0");
  std::vector<ScriptCase> cases;
  for (const auto& [row, value] : {std::pair("opcode/sdiv"_row, "arg1 / (arg0 + {})"),
                                   {"opcode/srem"_row, "arg1 % (arg0 + {})"},
                                   {"opcode/udiv"_row, "(uint64_t)arg1 / (arg0 + {})"},
                                   {"opcode/urem"_row, "(uint64_t)arg1 % (arg0 + {})"}})
    cases.push_back({row, sums_of(value), added, 0, false, kMore});
  return cases;
}

// The rows that engine llvm has of its own, those first that others need: without its own price a row counts as the
// interpreter's. The consumer is the same; what is called as a whole costs about what it does there.
std::vector<ScriptCase> native_cases() {
  std::vector<ScriptCase> cases = evaluations();
  append(cases, native_preparation());
  append(cases, native_divisions());
  std::vector<Row> known = rows_of(cases);
  known.push_back("prepare/clause"_row);
  for (ScriptCase& one : script_cases()) {
    const bool is_known = std::find(known.begin(), known.end(), one.row) != known.end();
    if (!is_known && !one.is_consumer && !one.may_act) cases.push_back(std::move(one));
  }
  const std::string asked = "@s{} = sum(id); ";
  cases.push_back({"prepare/clause"_row, repeated("", "P{ " + asked + "} ", kMore + 1), repeated("P{ ", asked, kMore + 1, "}"), 0,
                   false, kMore});
  return cases;
}

std::vector<ScriptCase> script_cases(EngineId engine) {
  if (engine == EngineId::llvm) return native_cases();
  const std::string nothing(kNothing);
  std::vector<ScriptCase> cases = evaluations();
  cases.push_back({"prepare/ecb"_row, repeated("", "P{ @s{} = count(); } ", kMore + 1),
                   repeated("P{ ", "@s{} = count(); ", kMore + 1, "}"), 0, false, kMore});
  append(cases, operands());
  append(cases, looked_up());
  append(cases, members());
  append(cases, asked_of_process());
  // By those that follow a first one.
  const auto add_more = [&](Row row, const std::string& action) {
    const auto some = [&](unsigned times) { return repeated("P{ arg0; ", action + "; ", times, "}"); };
    cases.push_back({row, some(kMore + 1), some(1), 0, false, kMore});
  };
  for (const dif::AggregationInfo& function : dif::kAggregations) add_more(row_of(function), "@s{} = " + call_of(function));
  append(cases, kept_values());
  add_more("key/any"_row, "@s{}[arg1] = count()");
  append(cases, locals_in("P{ arg0; "));
  cases.push_back({"prepare/dif"_row, "P{ @ = sum(arg1); }", "P{ @ = count(); }"});
  cases.push_back({"prepare/actions"_row, "P{ @ = sum(arg1); }", "P/arg0 == 9/{ @ = sum(arg1); }"});
  cases.push_back({"key/once"_row, "P{ @[arg1] = count(); }", "P{ @ = sum(arg1); }"});
  // Predicates that differ, as those of a script do, and do not hold: the processor guesses the next instruction less well.
  const std::string first = "P/arg1 == 7/{ @a = count(); } ";
  cases.push_back({"prepare/clause"_row,
                   first + "P/arg1 > 100/{ @b = count(); } P/arg0 != 1/{ @c = count(); } P/arg1 < 5/{ @d = count(); } "
                           "P/arg2 == 9/{ @e = count(); }",
                   first, 0, false, kMore});
  append(cases, string_subroutines());
  const auto add = [&](Row row, const std::string& action) {
    cases.push_back({row, fmt::format("P{{ arg0; {}; }}", action), nothing});
  };
  add_more("action/trace"_row, "trace(arg1)");
  add("record/any"_row, "trace(arg1)");
  add_more("action/printf"_row, "printf(\"%d\\n\", arg1)");
  add_more("action/print"_row, "print(arg1)");
  cases.push_back({.row = "action/tracemem"_row,
                   .with = "P{ arg0; this->s = alloca(16); tracemem(this->s, 16); }",
                   .without = "P{ arg0; this->s = alloca(16); }",
                   .most_firings = 20'000});
  append(cases, printing());
  append(cases, consumed_aggregations());
  append(cases, printed_values());
  append(cases, acting());
  append(cases, on_output());
  append(cases, other_actions(cases));
  return cases;
}

}  // namespace dvm::lab
