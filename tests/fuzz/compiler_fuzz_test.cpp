// Damaged scripts: whatever bytes are compiled, the outcome is a program that passes the verifier or a diagnostic, within bounds
// of time and stack. Mutations are pseudo-random with a fixed seed, so a failure comes again.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "dvm/compiler/compile.h"
#include "dvm/vm/verify.h"

namespace dvm {
namespace {

namespace fs = std::filesystem;

void verify(const dif::Difo& difo, const std::string& script) {
  const auto verified = vm::verify(difo);
  if (const auto* errors = std::get_if<1>(&verified)) ADD_FAILURE() << (*errors)[0].message << " in\n" << script;
}

// Programs that were made, so that a test can tell that not all it did was junk.
size_t compile(const std::string& text, bool is_description = false) {
  const compiler::Source source{is_description ? text : "fuzz.d", text, is_description};
  compiler::CompileOptions options;
  options.arguments = {"fuzz.d", "1", "name"};
  options.macros = {{"target", "1"}, {"pid", "2"}};
  const compiler::CompileResult result = compiler::compile({&source, 1}, options);
  EXPECT_NE(result.programs.empty(), result.diagnostics.empty()) << text;
  for (const compiler::Diagnostic& d : result.diagnostics) EXPECT_FALSE(compiler::render(d, source, true).empty());
  for (const compiler::CompiledSource& program : result.programs)
    for (const dif::EcbDesc& clause : program.program.clauses) {
      if (clause.predicate) verify(clause.predicate->difo, text);
      for (const dif::ActDesc& action : clause.actions)
        for (const dif::RecDesc& arg : action.args)
          if (!dif::is_own_stack(arg)) verify(arg.difo, text);
    }
  return result.programs.size();
}

std::vector<std::string> corpus() {
  std::vector<std::string> scripts;
  for (const char* folder : {"parse", "sema", "lower"})
    for (const auto& entry : fs::directory_iterator(fs::path(DVM_SOURCE_DIR) / "tests/golden" / folder)) {
      if (entry.path().extension() != ".d" || entry.file_size() > 4096) continue;
      std::ifstream in(entry.path());
      std::stringstream text;
      text << in.rdbuf();
      scripts.push_back(text.str());
    }
  std::sort(scripts.begin(), scripts.end());
  return scripts;
}

constexpr std::string_view kMarks = "(){}[];:,/@$\"'\\*&=<>?+-#0\n";

// One small damage: a byte changed, a piece cut, doubled, or brought in from another script.
void mutate(std::string& text, const std::string& other, std::mt19937& random) {
  if (text.empty()) text = " ";
  const size_t at = random() % text.size(), length = std::min<size_t>(1 + random() % 24, text.size() - at);
  switch (random() % 5) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(at, text.substr(at, length));
      break;
    case 3:
      text.insert(at, 1, kMarks[random() % kMarks.size()]);
      break;
    default: {
      const size_t from = random() % std::max<size_t>(1, other.size());
      text.insert(at, other.substr(from, length));
    }
  }
}

TEST(CompilerFuzz, DamagedScripts) {
  const std::vector<std::string> scripts = corpus();
  ASSERT_GT(scripts.size(), 100u);
  std::mt19937 random(20080822);
  size_t programs = 0;
  for (unsigned round = 0; round < 6000; round++) {
    std::string text = scripts[random() % scripts.size()];
    for (unsigned n = 1 + random() % 4; n > 0; n--) mutate(text, scripts[random() % scripts.size()], random);
    programs += compile(text, round % 4 == 0);
  }
  EXPECT_GT(programs, 50u);
}

TEST(CompilerFuzz, RandomBytes) {
  std::mt19937 random(42);
  for (unsigned round = 0; round < 300; round++) {
    std::string text(random() % 400, ' ');
    for (char& c : text) c = static_cast<char>(random());
    compile(text);
  }
}

std::string repeat(const std::string& part, size_t n) {
  std::string text;
  for (size_t i = 0; i < n; i++) text += part;
  return text;
}

TEST(CompilerFuzz, DeepNesting) {
  const char* const openers[] = {"(",  "a[", "!",       "-",        "f(",    "{",        "x=",   "1?",  "1?1:",  "1+",
                                 "1,", "*&", "sizeof ", "if (1) {", "(int)", "self->a[", "a.b.", "@a[", "1 && ", "a++"};
  for (const char* opener : openers) {
    compile("BEGIN { x = " + repeat(opener, 20000) + "1; }");
    compile("BEGIN { " + repeat(opener, 20000));
    compile("BEGIN /" + repeat(opener, 300) + "1/ { }");
  }
  for (const char* opener : {"struct { ", "int (", "int *", "struct s { int a[", "enum { A = (", "int a[int, "})
    compile(repeat(opener, 20000));
  compile("int " + repeat("*", 100000) + "p; BEGIN { x = p; }");
  compile("int a" + repeat("[1]", 100000) + ";");
  compile("BEGIN { " + repeat("x = 1, ", 100000) + "x; }");
  compile("BEGIN { " + repeat("if (x == 1) y = 1; else ", 100000) + "y = 2; }");
}

TEST(CompilerFuzz, LargeScripts) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(compile(repeat("BEGIN { x = 1; trace(x + 2); }\n", 1 << 15)), 1u);
  compile("BEGIN { x = \"" + repeat("abcdefgh", 1 << 17) + "\"; }");
  compile("BEGIN { x = " + repeat("9", 1 << 20) + "; }");
  compile("BEGIN { " + repeat("a", 1 << 20) + " = 1; trace(" + repeat("b", 1 << 20) + "); }");
  compile(repeat("x", 1 << 20));
  compile(repeat("BEGIN, ", 1 << 17) + "END { }");
  compile(repeat("\n", 1 << 20));
  compile("/*" + repeat("*", 1 << 20));
  compile(repeat("}", 1 << 16));
  compile(repeat("{", 1 << 16));
  compile(repeat("/", 1 << 16));
  compile(repeat("\"", 1 << 16));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(120));
}

}  // namespace
}  // namespace dvm
