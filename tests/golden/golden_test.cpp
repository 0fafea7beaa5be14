// Golden tests of the compiler: each .d lies beside its expected result.
//   parse/  .ast: the AST as parsed, and diagnostics
//   sema/   .sema: variables, aggregations and options, or diagnostics
//   tree/   .tree: the checked clauses with the types of their expressions
//   lower/  .dif: the listing of every clause, or diagnostics; every DIFO must pass the verifier, and be no longer than dtrace's
//           unless longer.txt says why
// tst.*.d must compile; err.<TAG>.*.d must not, and its first error must have that tag. DVM_UPDATE_GOLDEN=1 rewrites the
// expected files. Comments may hold directives. @program gives the script a traced program (fake_program.h), @description makes
// the script a program of -n, and @refuse-unused asks about arguments. A line that is the comment "@repeat N text" stands for N
// lines of the text, with their number for each #.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/sema/session.h"
#include "dvm/compiler/compile.h"
#include "dvm/vm/verify.h"
#include "tests/golden/fake_program.h"
#include "tests/support/dtrace_length.h"

namespace dvm::compiler {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = fs::path(DVM_SOURCE_DIR) / "tests/golden";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string repeat_lines(const std::string& text) {
  static constexpr std::string_view kMark = "/* @repeat ";
  if (text.find(kMark) == std::string::npos) return text;
  std::istringstream in(text);
  std::string all, line;
  while (std::getline(in, line)) {
    if (!line.starts_with(kMark)) {
      all += line + "\n";
      continue;
    }
    std::istringstream words(line.substr(kMark.size()));
    unsigned count = 0;
    words >> count >> std::ws;
    std::getline(words, line);
    line.resize(line.find(" */"));
    for (unsigned i = 1; i <= count; i++) {
      std::string copy = line;
      for (size_t at = copy.find('#'); at != std::string::npos; at = copy.find('#')) copy.replace(at, 1, std::to_string(i));
      all += copy + "\n";
    }
  }
  return all;
}

// Knows every provider but "nosuch"; a function named as a tag has none of its kind.
class Catalog final : public ProbeCatalog {
 public:
  bool has_provider(std::string_view name) override { return name != "nosuch"; }
  ProbeMatches match(const dif::ProbeDesc& d) override {
    ProbeMatches found;
    if (d.function.starts_with("D_")) {
      found.tag = d.function;
      found.reason = fmt::format("no {} in {}", d.name, d.provider);
    } else if (d.provider == "nosuch") {
      found.hints = {"did you mean 'such:::probe'?"};
    } else {
      found.count = 1;
    }
    return found;
  }

  std::optional<dif::ProbeDesc> find(uint64_t id) override {
    if (id != 1) return {};
    return dif::ProbeDesc{"dtrace", "", "", "BEGIN"};
  }
};

class Golden : public testing::TestWithParam<fs::path> {
 protected:
  Golden() : text_(repeat_lines(read(GetParam()))) {
    source_.text = text_;
    source_.is_description = text_.find("@description") != std::string::npos;
    source_.name = source_.is_description ? "PROGRAM" : GetParam().filename().string();
    options_.arguments = {source_.name, "12", "text", "a b", "\"quoted\"", "-7", "99999999999999999999"};
    options_.macros = {{"pid", "77"}, {"target", "99"}};
    options_.refuse_unused_arguments = text_.find("@refuse-unused") != std::string::npos;
    options_.catalog = &catalog_;
    if (text_.find("@program") != std::string::npos) options_.types = &program_;
  }

  std::string diagnostics(const std::vector<Diagnostic>& list) {
    std::string text;
    for (const Diagnostic& d : list) text += render(d, source_, true);
    return text;
  }

  // err.TAG.what.d has that tag first, tst.what.d none.
  void check_tag(const std::vector<Diagnostic>& list) {
    const std::string name = GetParam().filename().string();
    if (name.starts_with("tst.")) {
      EXPECT_TRUE(list.empty()) << diagnostics(list);
      return;
    }
    ASSERT_FALSE(list.empty()) << "must not compile";
    EXPECT_EQ(list[0].tag, name.substr(4, name.find('.', 4) - 4)) << diagnostics(list);
  }

  void compare(const std::string& extension, const std::string& got) {
    fs::path expected = GetParam();
    expected.replace_extension(extension);
    if (std::getenv("DVM_UPDATE_GOLDEN")) std::ofstream(expected, std::ios::binary) << got;
    EXPECT_EQ(read(expected), got) << "DVM_UPDATE_GOLDEN=1 accepts this";
  }

  std::string text_;
  Source source_;
  Catalog catalog_;
  FakeProgram program_;
  CompileOptions options_;
};

using Parse = Golden;
using Sema = Golden;
using Lower = Golden;
using Tree = Golden;

TEST_P(Parse, Golden) {
  std::vector<Diagnostic> list;
  const std::string ast = print_ast(source_, list);
  check_tag(list);
  compare(".ast", ast + diagnostics(list));
}

std::string describe(const CompileResult& result) {
  static constexpr const char* kScopes[] = {"", "self->", "this->"};
  std::string text;
  for (const CompiledSource& program : result.programs) {
    for (const auto& [name, value] : program.options) text += fmt::format("option {}={}\n", name, value);
    for (const dif::Variable& v : program.program.variables)
      text += fmt::format("variable {:#x} {}{}{}: {}\n", v.id, kScopes[static_cast<unsigned>(v.scope)], v.name,
                          v.kind == dif::VariableKind::array ? "[]" : "", v.type.name);
    for (const dif::AggregationDesc& a : program.program.aggregations) {
      text += fmt::format("aggregation {} @{}", a.id, a.name);
      for (const dif::DataType& key : a.keys) text += fmt::format(" [{}]", key.name);
      text += fmt::format(" = {} of {}", dif::find_aggregation(a.function)->name, a.value.name);
      for (const int64_t p : a.parameters) text += fmt::format(" {}", p);
      text += "\n";
    }
  }
  return text;
}

TEST_P(Sema, Golden) {
  const CompileResult result = compile({&source_, 1}, options_);
  check_tag(result.diagnostics);
  compare(".sema", describe(result) + diagnostics(result.diagnostics));
}

void verify(const dif::Difo& difo) {
  const auto verified = vm::verify(difo);
  if (const auto* errors = std::get_if<1>(&verified))
    for (const vm::VerifyError& e : *errors) ADD_FAILURE() << e.pc << ": " << e.message;
}

// An expression of a clause, with what dtrace's code for it would take.
struct Counted {
  std::string text;
  size_t dtrace = 0;
};

void count(const Expr* e, const SourceFile& file, std::vector<Counted>& to) {
  if (!e) return;
  const std::string_view text = file.text();
  to.push_back({std::string(text.substr(e->where.begin, e->where.end - e->where.begin)), dtrace_length(*e)});
}

// In the order of the objects of the clause.
std::vector<Counted> count(const CheckedClause& clause, const SourceFile& file) {
  std::vector<Counted> list;
  count(clause.predicate.get(), file, list);
  for (const CheckedAction& action : clause.actions)
    for (const ExprPtr& arg : action.args) count(arg.get(), file, list);
  return list;
}

std::vector<const dif::Difo*> objects(const dif::EcbDesc& clause) {
  std::vector<const dif::Difo*> list;
  if (clause.predicate) list.push_back(&clause.predicate->difo);
  for (const dif::ActDesc& action : clause.actions)
    for (const dif::RecDesc& arg : action.args) list.push_back(&arg.difo);
  return list;
}

// The lines of longer.txt about the script, without the reasons below them.
std::vector<std::string> longer(const std::string& script) {
  std::vector<std::string> list;
  std::istringstream in(read(kRoot / "lower/longer.txt"));
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(script + ": ")) list.push_back(line);
  return list;
}

void compare_lengths(const std::string& script, const std::vector<std::vector<Counted>>& dtrace, const dif::Program& program) {
  std::vector<std::string> found;
  ASSERT_EQ(dtrace.size(), program.clauses.size());
  for (size_t i = 0; i < dtrace.size(); i++) {
    const std::vector<const dif::Difo*> ours = objects(program.clauses[i]);
    ASSERT_EQ(dtrace[i].size(), ours.size());
    for (size_t k = 0; k < ours.size(); k++)
      if (ours[k]->text.size() > dtrace[i][k].dtrace)
        found.push_back(fmt::format("{}: {} > {}: {}", script, ours[k]->text.size(), dtrace[i][k].dtrace, dtrace[i][k].text));
  }
  EXPECT_EQ(found, longer(script)) << "longer than dtrace's code, and what lower/longer.txt says";
}

TEST_P(Lower, Golden) {
  const SourceFile file(source_);
  std::vector<std::vector<Counted>> lengths;
  options_.inspect = [&](const CheckedClause& clause) { lengths.push_back(count(clause, file)); };
  const CompileResult result = compile({&source_, 1}, options_);
  check_tag(result.diagnostics);
  std::string text;
  for (const CompiledSource& program : result.programs) {
    text += print_dif(program.program);
    for (const dif::EcbDesc& clause : program.program.clauses)
      for (const dif::Difo* difo : objects(clause))
        if (!difo->text.empty()) verify(*difo);
    compare_lengths(source_.name, lengths, program.program);
  }
  compare(".dif", text + diagnostics(result.diagnostics));
}

TEST_P(Tree, Golden) {
  options_.print_tree = true;
  const CompileResult result = compile({&source_, 1}, options_);
  check_tag(result.diagnostics);
  for (const CompiledSource& program : result.programs) compare(".tree", program.tree);
}

std::vector<fs::path> scripts(const char* folder) {
  std::vector<fs::path> list;
  for (const auto& entry : fs::directory_iterator(kRoot / folder))
    if (entry.path().extension() == ".d") list.push_back(entry.path());
  std::sort(list.begin(), list.end());
  return list;
}

std::string test_name(const testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.stem().string();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Parse, testing::ValuesIn(scripts("parse")), test_name);
INSTANTIATE_TEST_SUITE_P(Files, Sema, testing::ValuesIn(scripts("sema")), test_name);
INSTANTIATE_TEST_SUITE_P(Files, Tree, testing::ValuesIn(scripts("tree")), test_name);
INSTANTIATE_TEST_SUITE_P(Files, Lower, testing::ValuesIn(scripts("lower")), test_name);

TEST(Coverage, EveryKindOfDiagnosticHasATest) {
  std::set<std::string> tested;
  for (const char* folder : {"parse", "sema", "lower"})
    for (const fs::path& path : scripts(folder)) {
      const std::string name = path.filename().string();
      if (name.starts_with("err.")) tested.insert(name.substr(4, name.find('.', 4) - 4));
    }
  for (const char* tag : {
#define DVM_DIAGNOSTIC(tag, text) #tag,
#include "compiler/diagnostic/kinds.def"
       })
    EXPECT_TRUE(tested.contains(tag)) << "no golden test err." << tag << ".*.d";
}

}  // namespace
}  // namespace dvm::compiler
