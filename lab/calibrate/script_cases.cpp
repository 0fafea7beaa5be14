// The cases of rows that scripts measure. Covered by tests/runtime/scenarios/test_calibrate.py, which runs all of them.

#include <fmt/format.h>
#include <sys/mman.h>

#include <map>

#include "dvm/dif/action.h"
#include "dvm/vm/operands.h"
#include "lab/calibrate/script_meter.h"
#include "runtime/cost/predict.h"

namespace dvm::lab {

using namespace runtime;
namespace {

constexpr unsigned kFewLetters = kExecnameBytes - 1, kManyLetters = 197;
constexpr double kLonger = kManyLetters - kFewLetters;  // letters

// In `text`, $ stands for `with` and `without` in turn (expanded()).
struct CaseRow {
  Row row;
  const char *text, *with, *without;
  CaseTerms terms = {};
};

// Texts of several rows. An action is measured beside nothing, or by those that follow a first one.
constexpr const char *kSummed = "P{ <4|@s{} = sum($); |>}", *kStored = "P{ <4|$ = arg1; |>}", *kAssigned = "P{ <4|$; |>}",
                     *kArrays = "P{ <4|a{}[$] = 1; |>}", *kKey = "P{ arg0; @[$] = count(); }", *kOnlyKey = "P{ @[$] = count(); }",
                     *kTraced = "P{ trace($); }", *kBeside = "P{ arg0; $}", *kInPlace = "P{ arg0; $; }", *kWhole = "$";
// Predicates that differ, as those of a script do, and do not hold: the processor guesses the next instruction less well.
constexpr const char *kFalse = "P/arg1 == 7/{ @a = count(); } $",
                     *kFourFalse =
                         "P/arg1 > 100/{ @b = count(); } P/arg0 != 1/{ @c = count(); } P/arg1 < 5/{ @d = count(); } "
                         "P/arg2 == 9/{ @e = count(); }";
constexpr const char *kCounting = "<5|P{ @s{} = count(); } |>", *kCountingInOne = "P{ <5|@s{} = count(); |>}";
constexpr const char *kMore = "5", *kOne = "1";
constexpr CaseTerms kFour = {.uses = 4}, kLetters = {.bytes = kLonger}, kOfMemory = {.memory = kFewLetters};

// Values that are evaluated: opcode/ret is the price of a DIFO beyond its other instructions.
constexpr CaseRow kEvaluations[] = {
    {"opcode/ret"_row, kSummed, "arg1 + arg2", "arg1", kFour},
    {"action/expression"_row, kBeside, "<4|v{} = arg1; |>", "", kFour},
};

constexpr CaseTerms kMissing = {.uses = 4, .exists = false}, kFound = {.bytes = 4, .exists = true};
#define DECLARED(type) "struct made_up { <4|" type " m{}; |>}; struct made_up s; <4|int64_t g{}; |>"
#define LOADED(type) DECLARED(type) "P{ <4|@s{} = sum($); |>}", "s.m{}", "g{}", kFour
#define STORED(type) DECLARED(type) "P{ <4|$ = arg1; |>}", "s.m{}", "g{}", kFour
// Clause-local variables of a clause that starts so, set and then read, as scripts use them. Each script has as many sums.
#define LOCALS(begin, count, others)                                                                                \
  "<" count "|this int v{}; |>" begin "<" count "|this->v{} = arg1; |><" count "|@v{} = sum(this->v{}); |><" others \
  "|@w{} = sum(arg1); |>}"
#define LOCALS_IN(begin)                                                                           \
  {"prepare/locals"_row, kWhole, LOCALS(begin, "1", "4"), LOCALS(begin, "0", "5")}, {              \
    "prepare/locals"_row, kWhole, LOCALS(begin, "5", "0"), LOCALS(begin, "1", "4"), { .bytes = 4 } \
  }
constexpr CaseTerms kPrinted = {.is_consumer = true}, kFourPrinted = {.is_consumer = true, .uses = 4};
constexpr CaseTerms kManyPrinted = {.bytes = kLonger, .is_consumer = true};
constexpr CaseTerms kLongNumbers = {.bytes = 4 * (14 - kUsualDigits), .is_consumer = true};
constexpr uint64_t kSlow = 500, kQuick = 5'000;  // firings, by what the consumer does at each
#define BY_KEY(call) "dtrace:::BEGIN { <$|@[{}] = count(); |>} P{ arg0; " call "; }", "65", "1"
constexpr const char* kOnKey = "dtrace:::BEGIN { @[0] = count(); } P{ arg0; $; }";
constexpr CaseTerms by_things(double things, uint64_t firings, unsigned frames = 0) {
  return {.bytes = things, .is_consumer = true, .frames = frames, .most_firings = firings};
}
constexpr CaseTerms kOnce = by_things(0, kQuick);
constexpr uint64_t kActing = 20'000;  // firings of scripts with actions that act
#define TAKES "P{ arg0; this->id = speculation(); "
#define SPECULATED(value) TAKES "speculate(this->id); trace(" value "); } P{ $(this->id); }", "commit", "discard"
constexpr CaseTerms kActs = {.most_firings = kActing, .may_act = true};
constexpr CaseTerms kDiscards = {.uses = 4, .most_firings = kActing, .is_read = false, .may_act = true};
constexpr CaseTerms kExits = {.uses = 64, .most_firings = 1, .may_act = true, .least_samples = 31};

// Before the cases of aggregating functions, and after.
constexpr CaseRow kFirst[] = {
    // Operands of instructions. In a bare DIF text the processor finds several strings at a time; in a script it waits for each.
    {"prepare/ecb"_row, kWhole, kCounting, kCountingInOne, kFour},
    {row_of(vm::StringPlace::name), kSummed, "strlen(execname)", "strlen(FEW)", kFour},
    {"opcode/scmp"_row, kSummed, "execname == FEW", "arg1 == 5", kFour},
    {"opcode/stls_ref"_row, kAssigned, "this->v{} = execname", "this->v{} = arg1", kFour},
    {"opcode/stgs_ref"_row, kAssigned, "v{} = execname", "v{} = arg1", kFour},
    {"opcode/stts_ref"_row, kAssigned, "self->v{} = execname", "self->v{} = arg1", kFour},
    {"opcode/stgaa_ref"_row, kAssigned, "v{}[arg1] = execname", "v{}[arg1] = arg1", kFour},
    {"opcode/sttaa_ref"_row, kAssigned, "self->v{}[arg1] = execname", "self->v{}[arg1] = arg1", kFour},
    {"opcode/stts"_row, kStored, "self->n{}", "n{}", kFour},
    {"opcode/stgaa"_row, kStored, "n{}[arg1]", "n{}", kFour},
    {row_of(vm::StringPlace::local), "P{ <4|this->v{} = FEW; @s{} = sum(strlen($)); |>}", "this->v{}", "FEW", kFour},
    {"tuple/string"_row, kArrays, "MANY", "FEW", {.bytes = 4 * kLonger}},
    {"tuple/string"_row, "P{ <2|a{}[$] = 1; |>}", "execname", "arg1", {.uses = 2}},  // of more, each costs a third more
    // Variables that are looked up: those that do not exist, and then those that do.
    {"opcode/ldts"_row, "<4|self int t{}; |>P{ <4|@s{} = sum($); |>}", "self->t{}", "arg1", kMissing},
    {"opcode/ldts"_row, "<4|self int t{}; |>P{ <4|self->t{} = arg1; |><4|@s{} = sum($); |>}", "self->t{}", "arg1", kFound},
    {"opcode/ldgaa"_row, "<4|int t{}[int]; |>P{ <4|@s{} = sum($); |>}", "t{}[arg1]", "arg1", kMissing},
    {"opcode/ldgaa"_row, "<4|int t{}[int]; |>P{ <4|t{}[arg1] = arg1; |><4|@s{} = sum($); |>}", "t{}[arg1]", "arg1", kFound},
    {"opcode/ldtaa"_row, "<4|self int t{}[int]; |>P{ <4|@s{} = sum($); |>}", "self->t{}[arg1]", "arg1", kMissing},
    {"opcode/ldtaa"_row, "<4|self int t{}[int]; |>P{ <4|self->t{}[arg1] = arg1; |><4|@s{} = sum($); |>}", "self->t{}[arg1]",
     "arg1", kFound},
    // Loads and stores of members of a structure that is a variable, beside variables: a DIF text has scratch only.
    {"opcode/ldsb"_row, LOADED("int8_t")},
    {"opcode/ldsh"_row, LOADED("int16_t")},
    {"opcode/ldsw"_row, LOADED("int32_t")},
    {"opcode/ldub"_row, LOADED("uint8_t")},
    {"opcode/stb"_row, STORED("uint8_t")},
    {"opcode/lduh"_row, LOADED("uint16_t")},
    {"opcode/sth"_row, STORED("uint16_t")},
    {"opcode/lduw"_row, LOADED("uint32_t")},
    {"opcode/stw"_row, STORED("uint32_t")},
    {"opcode/ldx"_row, LOADED("uint64_t")},
    {"opcode/stx"_row, STORED("uint64_t")},
    // Variables that dvm looks up for the process: a DIF text has no process.
    {"variable/ppid"_row, kSummed, "ppid", "arg1", kFour},
    {"variable/uid"_row, kSummed, "uid", "arg1", kFour},
    {"variable/gid"_row, kSummed, "gid", "arg1", kFour},
};

constexpr CaseRow kSecond[] = {
    // Values that are kept, by scripts that keep one more, or a longer one. A string behind a number in a record takes more.
    {"record/integer"_row, kInPlace, R"(printf("%d %d %d %d %d", arg1, arg2, arg1, arg2, arg1))", R"(printf("%d", arg1))", kFour},
    {"record/string"_row, kInPlace, R"(printf("%d %s", arg1, MANY))", R"(printf("%d %s", arg1, FEW))", kLetters},
    {"record/string"_row, kTraced, "execname", "arg1"},
    {"key/integer"_row, kKey, "arg1, arg2", "arg1"},
    {"key/string"_row, kKey, "arg1, MANY", "arg1, FEW", kLetters},
    {"key/string"_row, "P{ arg0; <2|$|>}", "@a{}[execname] = count(); @b{}[FEW] = count(); ",
     "@a{}[arg1] = count(); @b{}[arg1] = count(); ", kFour},
    {"key/any"_row, "P{ arg0; <$|@s{}[arg1] = count(); |>}", kMore, kOne, kFour},
    LOCALS_IN("P{ arg0; "),
    {"prepare/dif"_row, "P{ @ = $; }", "sum(arg1)", "count()"},
    {"prepare/actions"_row, "$ @ = sum(arg1); }", "P{", "P/arg0 == 9/{"},
    {"key/once"_row, "P{ @$; }", "[arg1] = count()", " = sum(arg1)"},
    {"prepare/clause"_row, kFalse, kFourFalse, "", kFour},
    // Subroutines on strings: their result is read at once, as a key of as many letters. Their price of a byte is known by then.
    {"subroutine/strjoin"_row, kOnlyKey, R"(strjoin(FEW, "yy"))", "FEW"},
    {"subroutine/lltostr"_row, kOnlyKey, "lltostr(arg1)", "FEW"},
    {"subroutine/basename"_row, kOnlyKey, R"(basename("/usr/lib/xxxxxxxxxxxxx"))", "FEW"},
    {"subroutine/dirname"_row, kOnlyKey, R"(dirname("/xxxxxxxxxxxx/yy"))", "FEW"},
    {"subroutine/cleanpath"_row, kOnlyKey, R"(cleanpath("/xxxxxxxxxxxx"))", "FEW"},
    {"subroutine/substr"_row, kOnlyKey, "substr(FEW, 1, 12)", "FEW"},
    {"subroutine/toupper"_row, kOnlyKey, "toupper(FEW)", "FEW"},
    {"subroutine/tolower"_row, kOnlyKey, "tolower(FEW)", "FEW"},
    {"subroutine/strstr"_row, kSummed, R"(strstr(FEW, "zz") != NULL)", "arg1", kFour},
    {"subroutine/strchr"_row, kSummed, "strchr(FEW, 'z') != NULL", "arg1", kFour},
    {"subroutine/strrchr"_row, kSummed, "strrchr(FEW, 'z') != NULL", "arg1", kFour},
    {"subroutine/copyinstr"_row, kTraced, "copyinstr(arg2)", "FEW", kOfMemory},
    {row_of(vm::StringPlace::captured), kOnlyKey, "copyinstr(arg2)", "FEW", kOfMemory},
    {"action/trace"_row, "P{ arg0; <$|trace(arg1); |>}", kMore, kOne, kFour},
    {"record/any"_row, kBeside, "trace(arg1); ", ""},
    {"record/error"_row, kInPlace, "v = *(int64_t *)arg0", "v = arg0"},
    {"action/printf"_row, R"(P{ arg0; <$|printf("%d\n", arg1); |>})", kMore, kOne, kFour},
    {"action/print"_row, "P{ arg0; <$|print(arg1); |>}", kMore, kOne, kFour},
    {"action/tracemem"_row, "P{ arg0; this->s = alloca(16); $}", "tracemem(this->s, 16); ", "", {.most_firings = 20'000}},
    // Steps of the consumer; the last row is the rest of a record. Numbers have as many digits as addresses, or kUsualDigits.
    {"consumer/value"_row, R"(P{ arg0; printf("<4| %d|>\n"<4|, $|>); })", "77777777777777", "77777", kLongNumbers},
    {"consumer/value"_row, R"(P{ arg0; printf("<$| %d|>\n"<$|, 77777|>); })", kMore, kOne, kFourPrinted},
    {"consumer/action"_row, "P{ arg0; <$|trace(77777); |>}", kMore, kOne, kFourPrinted},
    {"consumer/printf"_row, R"(P{ arg0; <$|printf("%d\n", 77777); |>})", kMore, kOne, kFourPrinted},
    {"consumer/record"_row, R"(P{ arg0; printf("%s", $); })", "MANY", "FEW", kManyPrinted},
    {"consumer/string"_row, "P{ arg0; trace($); }", "FEW", "77777", kPrinted},
    {"consumer/record"_row, kBeside, "trace(77777); ", "", kPrinted},
    // Steps on an aggregation of some keys, which are there before the firings. trunc() drops them: that is measured in END.
    {"consumer/printa"_row, BY_KEY("printa(@)"), by_things(64, kSlow)},
    {"consumer/printa"_row, kOnKey, "printa(@)", "1", kOnce},
    {"consumer/clear"_row, BY_KEY("clear(@)"), by_things(64, kQuick)},
    {"consumer/clear"_row, kOnKey, "clear(@)", "1", kOnce},
    {"consumer/trunc"_row, kOnKey, "trunc(@)", "1", kOnce},
    {"consumer/trunc"_row, "dtrace:::BEGIN { @[0] = count(); printa(@); } P{ arg0; @[rand()] = count(); } $",
     "dtrace:::END { trunc(@); }", "", by_things(1, kQuick)},
    {"consumer/normalize"_row, kOnKey, "normalize(@, 2)", "1", kOnce},
    {"consumer/denormalize"_row, kOnKey, "denormalize(@)", "1", kOnce},
    // Stacks of 24 frames or 4, memory of 256 bytes or 16, structures of 24 numbers or 4, and symbols as text. Symbols were found
    // before, as they are in a long run.
    {"consumer/stack"_row, kBeside, "stack(); ", "", kOnce},
    {"consumer/ustack"_row, "P{ arg0; ustack($); }", "24", "4", by_things(20, kSlow, 24)},
    {"consumer/ustack"_row, kBeside, "ustack(1); ", "", by_things(0, kQuick, 24)},
    {"consumer/tracemem"_row, "P{ this->s = alloca(256); tracemem(this->s, $); }", "256", "16", by_things(240, kSlow)},
    {"consumer/tracemem"_row, kWhole, "P{ this->s = alloca(256); tracemem(this->s, 16); }", "P{ arg0; }", kOnce},
    {"consumer/print"_row,
     "struct made_up { <$|int member_{}; |>}; P{ this->s = (struct made_up *)alloca(256); print(*this->s); }", "24", "4",
     by_things(20 * sizeof(int), kSlow)},
    {"consumer/print"_row, kBeside, "print(arg1); ", "", kOnce},
    {"consumer/uaddr"_row, kBeside, "uaddr(arg2); ", "", kOnce},
    {"consumer/usym"_row, kBeside, "usym(arg2); ", "", kOnce},
    {"consumer/umod"_row, kBeside, "umod(arg2); ", "", kOnce},
    {"consumer/ufunc"_row, kBeside, "ufunc(arg2); ", "", kOnce},
    {"consumer/sym"_row, kBeside, "sym(arg2); ", "", kOnce},
    {"consumer/func"_row, kBeside, "func(arg2); ", "", kOnce},
    {"consumer/mod"_row, kBeside, "mod(arg2); ", "", kOnce},
    // Speculations, exit() (once in a run) and chill(). A speculation that ends where it was taken is free again at once, so one
    // is enough. discard() is measured on one that is not in use; the rest belongs to speculation(). commit() is measured beside
    // it, and beside one of a record with the room of a string.
    {"action/discard"_row, kBeside, "<4|discard(1); |>", "", kDiscards},
    {"subroutine/speculation"_row, "P{ arg0; this->id = $; } P{ discard(this->id); }", "speculation()", "1", kActs},
    {"action/speculate"_row, TAKES "$trace(arg1); } P{ discard(this->id); }", "speculate(this->id); ", "", kActs},
    {"action/commit"_row, SPECULATED("arg1"), kActs},
    {"action/commit"_row, SPECULATED("execname"), {.bytes = 256 - 8, .most_firings = kActing, .may_act = true}},
    {"action/exit"_row, "P{ arg0; <$|exit(0); |>}", "65", "1", kExits},
    {"action/chill"_row, kBeside, "chill(0); ", "", kActs},
};

// Of engine llvm. The machine code of a clause needs the machine state for `id`, whose value must be used, or there is no code
// for it. Divisions are of arguments: LLVM makes constants of what a DIF text divides. Variables are loaded by different
// expressions: in a DIF text, the checks of one load serve those after it.
constexpr CaseRow kNative[] = {
    {"prepare/ecb"_row, kFalse, kFourFalse, "", kFour},
    {"prepare/body"_row, kWhole, kCounting, kCountingInOne, kFour},
    {"prepare/dif"_row, "P{ @ = sum($); }", "id", "arg1"},
    LOCALS_IN("P{ @ = sum(id); "),
    {"opcode/ldgs"_row, "<4|int64_t g{}; |>P{ <4|@s{} = sum($); |>}", "g{}", "arg1", kFour},
    {"opcode/sdiv"_row, kSummed, "arg1 / (arg0 + {})", "arg1 + arg0", kFour},
    {"opcode/srem"_row, kSummed, "arg1 % (arg0 + {})", "arg1 + arg0", kFour},
    {"opcode/udiv"_row, kSummed, "(uint64_t)arg1 / (arg0 + {})", "arg1 + arg0", kFour},
    {"opcode/urem"_row, kSummed, "(uint64_t)arg1 % (arg0 + {})", "arg1 + arg0", kFour},
};
constexpr CaseRow kNativeClause = {"prepare/clause"_row, kWhole, "<5|P{ @s{} = sum(id); } |>", "P{ <5|@s{} = sum(id); |>}",
                                   kFour};

std::string literal(unsigned letters) { return "\"" + std::string(letters, 'x') + "\""; }

void add(std::vector<ScriptCase>& to, const CaseRow& row) {
  const auto script = [&row](const char* part) { return expanded(replaced(row.text, "$", part)); };
  to.push_back({row.terms, row.row, script(row.with), script(row.without)});
}
void add(std::vector<ScriptCase>& to, std::span<const CaseRow> rows) {
  for (const CaseRow& row : rows) add(to, row);
}

// The calls of aggregating functions, by their prototypes.
void add_aggregating(std::vector<ScriptCase>& to) {
  for (const dif::AggregationInfo& function : dif::kAggregations) {
    std::string call = fmt::format("{}(arg1)", function.name);
    if (function.id == dif::Action::agg_count) call = "count()";
    if (function.id == dif::Action::agg_lquantize) call = "lquantize(arg1, 0, 100, 10)";
    if (function.id == dif::Action::agg_llquantize) call = "llquantize(arg1, 10, 0, 6, 10)";
    const std::string text = "P{ arg0; <$|@s{} = " + call + "; |>}";
    add(to, {row_of(function), text.c_str(), kMore, kOne, kFour});
  }
}

// Actions of the consumer on dvm's own output, a file without a name. The probe side of such an action is its record.
constexpr struct {
  Row recorded, consumed;
  const char* call;
  uint64_t most_firings;  // that are consumed
} kConsumed[] = {
    {"action/system"_row, "consumer/system"_row, "system(\":\"); ", 10},
    {"action/freopen"_row, "consumer/freopen"_row, "freopen(\"/dev/null\"); ", 500},
    {"action/ftruncate"_row, "consumer/ftruncate"_row, "ftruncate(); ", 500},
    {"action/setopt"_row, "consumer/setopt"_row, "setopt(\"aggsortrev\"); ", 500},
};

void add_on_output(std::vector<ScriptCase>& to) {
  static const int file = memfd_create("dvm-calibrate", MFD_CLOEXEC);
  const std::string text = fmt::format("dtrace:::BEGIN {{ freopen(\"/proc/self/fd/{}\"); }} P{{ arg0; $}}", file);
  for (const auto& one : kConsumed) {
    add(to, {one.recorded, text.c_str(), one.call, "", {.most_firings = kActing, .is_read = false, .may_act = true}});
    add(to, {one.consumed, text.c_str(), one.call, "", {.is_consumer = true, .most_firings = one.most_firings, .may_act = true}});
  }
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
  return {{}, row_of(action), fmt::format("P{{ {}{}({}); }}", before, action.name, arguments), fmt::format("P{{ {}}}", before)};
}

// The actions that no other case or meter measures, by their prototypes. What a destructive one does is not known here.
void add_other_actions(std::vector<ScriptCase>& to) {
  std::vector<Row> known = rows_of(to);
  known.push_back("action/ustack"_row);
  for (const dif::ActionInfo& action : dif::kActions)
    if (action.unsupported.empty() && !action.destructive && !has_row(known, row_of(action))) to.push_back(action_case(action));
}

// The rows that engine llvm has of its own, those first that others need: without its own price a row counts as the
// interpreter's. The consumer is the same; what is called as a whole costs about what it does there.
std::vector<ScriptCase> native_cases() {
  std::vector<ScriptCase> cases;
  add(cases, kEvaluations);
  add(cases, kNative);
  std::vector<Row> known = rows_of(cases);
  known.push_back(kNativeClause.row);
  for (ScriptCase& one : script_cases())
    if (!has_row(known, one.row) && !one.is_consumer && !one.may_act) cases.push_back(std::move(one));
  add(cases, kNativeClause);
  return cases;
}

}  // namespace

std::string expanded(std::string text) {
  text = replaced(replaced(std::move(text), "FEW", literal(kFewLetters)), "MANY", literal(kManyLetters));
  for (size_t end; (end = text.find("|>")) != std::string::npos;) {
    const size_t begin = text.rfind('<', end), bar = text.find('|', begin);
    std::string all;
    for (unsigned i = 0, times = static_cast<unsigned>(std::stoul(text.substr(begin + 1))); i < times; i++)
      all += replaced(text.substr(bar + 1, end - bar - 1), "{}", std::to_string(i));
    text.replace(begin, end + 2 - begin, all);
  }
  return text;
}

std::vector<ScriptCase> script_cases(EngineId engine) {
  if (engine == EngineId::llvm) return native_cases();
  std::vector<ScriptCase> cases;
  add(cases, kEvaluations), add(cases, kFirst);
  add_aggregating(cases);
  add(cases, kSecond);
  add_on_output(cases);
  add_other_actions(cases);
  return cases;
}

}  // namespace dvm::lab
