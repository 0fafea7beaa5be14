// The passes of compiler/lower/optimize.h: optimised code does what the code did as it was first made, and is as short as
// dtrace's (docs/code-generation.md).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "compiler/lower/operators.h"
#include "compiler/lower/range.h"
#include "compiler/sema/session.h"
#include "tests/support/dtrace_length.h"
#include "tests/unit/compiler/script.h"

namespace dvm {
namespace {

// Random statements over variables of all sizes: what they trace and how they fault must not depend on the passes.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string program() {
    std::string text =
        "char c; unsigned char b; short s; int x; uint32_t u; long l; unsigned long v; string t; int m[int, string];\n"
        "struct r { char c; int f:5; unsigned g:7; long h[3]; short e; };\n"
        "BEGIN { this->p = (struct r *)alloca(sizeof (struct r)); this->p->f = 3; t = \"abc\"; self->n = (int)-1; this->k = "
        "9ul;\n";
    for (const char* name : kNames) text += fmt::format("{} = {};\n", name, number());
    for (unsigned i = 0; i < 6; i++) text += fmt::format("{}\n", statement());
    return text + "}\n";
  }

 private:
  static constexpr const char* kNames[] = {"c",
                                           "b",
                                           "s",
                                           "x",
                                           "u",
                                           "l",
                                           "v",
                                           "self->n",
                                           "this->k",
                                           "this->p->c",
                                           "this->p->f",
                                           "this->p->g",
                                           "this->p->h[1]",
                                           "this->p->e",
                                           "m[1, \"a\"]"};
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  template <size_t N>
  const char* one_of(const char* const (&list)[N]) {
    return list[below(N)];
  }

  std::string number() {
    static constexpr const char* kNumbers[] = {"0",
                                               "1",
                                               "2",
                                               "3",
                                               "7",
                                               "32",
                                               "64",
                                               "-1",
                                               "127",
                                               "255",
                                               "32768",
                                               "65535",
                                               "2147483647",
                                               "4294967295u",
                                               "-5",
                                               "1000000007",
                                               "9223372036854775807",
                                               "12345678901234"};
    return one_of(kNumbers);
  }

  std::string statement() {
    switch (below(5)) {
      case 0:
        return fmt::format("{} = {};", one_of(kNames), expression(3));
      case 1: {
        static constexpr const char* kAssignments[] = {"+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>=", "/=", "%="};
        const std::string op = one_of(kAssignments);
        return fmt::format("{} {} {};", one_of(kNames), op, op[0] == op[1] ? "3" : expression(2));
      }
      default:
        return fmt::format("trace({});", expression(5));
    }
  }

  std::string expression(unsigned depth) {
    if (depth == 0 || below(8) == 0) return below(3) == 0 ? number() : one_of(kNames);
    const auto sub = [&] { return expression(depth - 1); };
    switch (below(14)) {
      case 0:
        return fmt::format("({} ? {} : {})", sub(), sub(), sub());
      case 1: {
        static constexpr const char* kUnary[] = {"-",      "~",          "!",    "+", "(short)", "(unsigned char)",
                                                 "(long)", "(unsigned)", "(int)"};
        return fmt::format("({}({}))", one_of(kUnary), sub());
      }
      case 2: {
        static constexpr const char* kLogical[] = {"&&", "||", "^^"};
        return fmt::format("({} {} {})", sub(), one_of(kLogical), sub());
      }
      case 3:
      case 4: {
        static constexpr const char* kComparisons[] = {"<", "<=", ">", ">=", "==", "!="};
        return fmt::format("({} {} {})", sub(), one_of(kComparisons), sub());
      }
      case 5: {
        static constexpr const char* kShifts[] = {"<<", ">>"};
        static constexpr const char* kCounts[] = {"0", "1", "3", "15", "32", "63", "(x & 7)"};
        return fmt::format("({} {} {})", sub(), one_of(kShifts), one_of(kCounts));
      }
      case 6: {
        static constexpr const char* kSteps[] = {"{}++", "{}--", "++{}", "--{}"};
        return fmt::format("({})", fmt::format(fmt::runtime(one_of(kSteps)), one_of(kNames)));
      }
      case 7:
        return fmt::format("({} = {})", one_of(kNames), sub());
      case 8: {
        static constexpr const char* kCalls[] = {"strlen(t)",       "strlen(strjoin(t, lltostr(x)))",
                                                 "m[x & 1, \"a\"]", "(t == \"abc\")",
                                                 "(\"b\" < \"a\")", "index(t, \"c\")"};
        return one_of(kCalls);
      }
      case 9: {
        static constexpr const char* kDivisions[] = {"/", "%"};
        return fmt::format("({} {} {})", sub(), one_of(kDivisions), below(3) ? "7" : sub());
      }
      default: {
        static constexpr const char* kArithmetic[] = {"+", "-", "*", "&", "|", "^"};
        return fmt::format("({} {} {})", sub(), one_of(kArithmetic), sub());
      }
    }
  }

  std::mt19937 random_;
};

bool compiles(const std::string& text, bool optimize) {
  const compiler::Source source{"test.d", text, false};
  compiler::CompileOptions options;
  options.optimize = optimize;
  return !compiler::compile({&source, 1}, options).programs.empty();
}

TEST(Optimize, DoesWhatTheCodeDidBefore) {
  unsigned compared = 0;
  for (unsigned seed = 1; seed <= 400; seed++) {
    const std::string text = Generator(seed).program();
    // Some divide by a constant 0, or take too many registers, as they are first made or at all.
    if (!compiles(text, true) || !compiles(text, false)) continue;
    const Script plain(text, false), optimized(text, true);
    ASSERT_EQ(plain.values, optimized.values) << seed << "\n" << text;
    ASSERT_EQ(plain.fault, optimized.fault) << seed << "\n" << text;
    compared++;
  }
  EXPECT_GT(compared, 100u);
}

struct Listing {
  const char* before;     // what declares the names
  const char* statement;  // or a predicate, in slashes
  size_t dtrace, ours;    // instructions
};

// docs/code-generation.md says how the figures of dtrace come about.
constexpr Listing kListings[] = {
    {"", "/pid == 1234/", 8, 7},
    {"", "/pid != 0 && probename == \"BEGIN\" || !tid/", 35, 13},
    {"int x;", "x++;", 5, 5},
    {"int x;", "x += 2;", 5, 5},
    {"char c;", "c = arg0;", 3, 3},
    {"int x;", "trace(x > 3 ? 1 : 2);", 14, 7},
    {"int x;", "trace((x << 3) == 5);", 10, 9},
    {"int x;", "trace((unsigned)(x - 8) > 5);", 13, 11},
    {"char c;", "trace((c + 1) / 2);", 6, 6},
    {"int x;", "trace((x & 0xff) + 1 > 5);", 12, 11},
    {"int x;", "trace(x < 7u);", 8, 7},
    {"int x;", "trace(x * 3 > 7);", 10, 9},
    {"int x;", "trace(x + 3 > 7);", 10, 9},
    {"int x;", "trace(x + 3 == 7);", 10, 9},
    {"int x;", "trace((int)(x + 3) == 7);", 10, 7},
    {"int x;", "trace((int)(x + 1) < x);", 10, 7},
    {"uint32_t u;", "trace(u + 1 > 5);", 10, 9},
    {"uint32_t u;", "trace(~u > 3);", 9, 8},
    {"uint32_t u;", "trace(pid == u);", 8, 7},
    {"int x;", "trace(x ^^ arg0);", 10, 10},
    {"", "trace((short)arg0);", 5, 2},
    {"", "trace(tid == tid ? pid : ppid);", 14, 2},
    {"", "trace((tid == tid ? pid : ppid) == pid ? 1 : arg0);", 26, 2},
    {"int i;", "x = (i = 4, i + 1);", 7, 5},
    {"int a[string, int];", "a[\"x\", 1]++;", 11, 8},
    {"int a[string, int]; self int m[int];", "self->m[tid] = a[\"x\", 1];", 12, 10},
    {"", "trace(strlen(strjoin(\"a\", lltostr(pid))));", 19, 10},
    {"struct s { char c; int b:5; long l[3]; }; this struct s *p;", "this->p->b = 3;", 14, 8},
    {"struct s { char c; int b:5; long l[3]; }; this struct s *p;", "trace(*(this->p->l + 1));", 9, 5},
};

size_t dtrace_length(const compiler::CheckedClause& clause) {
  return compiler::dtrace_length(clause.predicate ? *clause.predicate : *clause.actions.back().args.back());
}

size_t length(const dif::EcbDesc& clause) {
  if (clause.predicate) return clause.predicate->difo.text.size();
  return clause.actions.back().args.back().difo.text.size();
}

// Whether the branch is taken after a comparison of these.
bool is_taken(dif::Opcode branch, uint64_t l, uint64_t r) {
  const auto left = static_cast<int64_t>(l), right = static_cast<int64_t>(r);
  switch (branch) {
    case dif::Opcode::be:
      return l == r;
    case dif::Opcode::bne:
      return l != r;
    case dif::Opcode::bl:
      return left < right;
    case dif::Opcode::ble:
      return left <= right;
    case dif::Opcode::bg:
      return left > right;
    case dif::Opcode::bge:
      return left >= right;
    case dif::Opcode::blu:
      return l < r;
    case dif::Opcode::bleu:
      return l <= r;
    case dif::Opcode::bgu:
      return l > r;
    default:
      return l >= r;
  }
}

// Numbers around 0 and the ends of 32 bits.
constexpr uint32_t kEdges[] = {0,          1,          2,          5,          100,        0x7ffffffe, 0x7fffffff,
                               0x80000000, 0x80000001, 0x80000005, 0xffffff00, 0xfffffffe, 0xffffffff};

uint64_t extended(uint32_t v, bool is_signed) { return is_signed ? static_cast<uint64_t>(static_cast<int32_t>(v)) : v; }

void expect_same_answer(dif::Opcode branch, uint32_t v, uint32_t addend, uint32_t limit, bool is_signed) {
  const auto plain = compiler::unwrap(*compiler::comparison_of(branch), addend, extended(limit, is_signed), is_signed);
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(is_taken(branch, extended(v, is_signed) + plain->added, plain->against),
            is_taken(branch, extended(v + addend, is_signed), extended(limit, is_signed)))
      << v << " + " << addend << " against " << limit << (is_signed ? " with sign" : "");
}

TEST(Optimize, ComparesWrappedSumsWithoutWrapping) {
  using dif::Opcode;
  for (const uint32_t v : kEdges)
    for (const uint32_t addend : kEdges)
      for (const uint32_t limit : kEdges) {
        for (const Opcode branch : {Opcode::be, Opcode::bne, Opcode::bl, Opcode::ble, Opcode::bg, Opcode::bge})
          expect_same_answer(branch, v, addend, limit, true);
        for (const Opcode branch : {Opcode::be, Opcode::bne, Opcode::blu, Opcode::bleu, Opcode::bgu, Opcode::bgeu})
          expect_same_answer(branch, v, addend, limit, false);
      }
}

TEST(Optimize, ConstantsThatMakeUp64AreNoShift) {
  for (const char* text : {"x + 32 + 32", "x * 8 * 8", "(x ^ 1) ^ 65", "x | 64 | 64", "x & 64 & 64", "x - 32 + 96",
                           "x << 32 << 32", "x << 63 << 63", "v >> 32 >> 32", "l >> 63 >> 63"}) {
    const std::string program =
        fmt::format("int x; long l; unsigned long v; BEGIN {{ x = 67; l = -1; v = 5; trace({}); }}", text);
    EXPECT_EQ(Script(program, false).values, Script(program, true).values) << text;
  }
}

// What an int is compared with itself for: whether it overflows.
TEST(Optimize, ComparesASumWithItself) {
  for (const int addend : {1, 5, 0x7fffffff})
    for (const uint32_t v : kEdges)
      for (const char* op : {"<", "<=", ">", ">=", "==", "!="}) {
        const std::string text = fmt::format("int x; BEGIN {{ x = (int){0}; trace((int)(x + {1}) {2} x); }}", v, addend, op);
        EXPECT_EQ(Script(text, true).values, Script(text, false).values) << text;
      }
}

TEST(Optimize, CodeIsNoLongerThanDTraces) {
  for (const Listing& row : kListings) {
    const bool is_predicate = row.statement[0] == '/';
    const std::string text =
        fmt::format("{}\nBEGIN {} {{ {} }}\n", row.before, is_predicate ? row.statement : "", is_predicate ? "" : row.statement);
    const compiler::Source source{"test.d", text, false};
    compiler::CompileOptions options;
    size_t counted = 0;
    options.inspect = [&](const compiler::CheckedClause& clause) { counted = dtrace_length(clause); };
    const compiler::CompileResult result = compiler::compile({&source, 1}, options);
    ASSERT_FALSE(result.programs.empty()) << text << compiler::render(result.diagnostics.at(0), source, true);
    const dif::EcbDesc& clause = result.programs[0].program.clauses.back();
    EXPECT_EQ(length(clause), row.ours) << text << compiler::print_dif(result.programs[0].program);
    EXPECT_EQ(counted, row.dtrace) << text;
    EXPECT_LE(row.ours, row.dtrace) << text;
  }
}

}  // namespace
}  // namespace dvm
