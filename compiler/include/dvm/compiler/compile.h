#pragma once
// D source to dif::Program. compiler/pipeline.cpp has the passes in order.

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dvm/compiler/diagnostic.h"
#include "dvm/compiler/probe_catalog.h"
#include "dvm/compiler/type_catalog.h"
#include "dvm/dif/program.h"
#include "dvm/dif/stability.h"

namespace dvm::compiler {

struct CheckedClause;
struct Type;

// One program: a script (-s) or an argument of -n.
struct Source {
  std::string name;  // of the script; of -n, its text
  std::string text;
  bool is_description = false;  // from -n
  std::string original = {};    // the text before the C preprocessor ran; empty: it did not run
};

// A file of declarations that programs share.
struct Library {
  Source source;          // its name is its path
  bool if_named = false;  // read only when a program names something that it defines
};

struct CompileOptions {
  std::vector<std::string> arguments;  // $0 (the script's name), $1 ...
  // Macro variables by their names without the $: pid, ppid, uid, euid, gid, egid, pgid, sid, target.
  std::map<std::string, std::string> macros;
  bool default_arguments = false;   // -x defaultargs
  bool allow_empty = false;         // -x empty: a source may hold nothing
  bool allow_zero_matches = false;  // -Z, -x zdefs
  bool warn_zero_matches = false;   // a description without a match is a warning, not an error

  bool refuse_unused_arguments = false;  // an unused $1 is an error, D_MACRO_UNUSED; -x argref allows it
  bool keep_target = false;              // leave $target in probe descriptions
  // Outside of probe descriptions, $target without a value is an error; otherwise it is 0.
  bool refuse_target = false;
  bool print_tree = false;  // fill in CompiledSource::tree
  bool list_names = false;  // fill in CompileResult::names
  bool optimize = true;     // false: code without optimizations, for tests and comparisons

  std::vector<Library> libraries;          // compiled before the programs, dependencies first
  dif::Attributes minimum{0, 0, 0};        // -x amin: refuses less stable names
  uint32_t version = dif::kNewestVersion;  // -x version: names of later versions are unknown
  bool prefers_probes = false;             // -x pspec: outside of clauses, a word is a probe before a type

  uint64_t scratch_size = 16 << 20;  // -x scratchsize: the largest alloca()
  uint64_t string_size = 256;        // -x strsize: sizeof (string)

  std::set<std::string> settled;    // options of the command line; no pragma changes them
  ProbeCatalog* catalog = nullptr;  // null: probe descriptions are not matched
  TypeCatalog* types = nullptr;     // null: there is no traced program to ask

  std::vector<dif::ProbeDesc> described;  // probes to put into CompileResult::descriptions

  // Called for each clause before code is generated. For tests of the compiler.
  std::function<void(const CheckedClause&)> inspect = {};
  // Called for the type before each . and ->, in the order of checking.
  std::function<void(const Type&)> see_selected = {};
};

struct CompiledSource {
  dif::Program program;
  std::vector<std::pair<std::string, std::string>> options;  // #pragma D option name[=value], in order

  size_t matched = 0;  // probes, counted for each clause
  std::string tree;    // the checked clauses: a node a line, with its type
  // Stability of the least stable probe in descriptions, and of the least stable name in statements.
  dif::Attributes descriptions, statements;
};

// A provider that a program declares. `dvm header` makes the header of the instrumented program from it. Types are spelled as in
// D.
struct ProbeArgumentDesc {
  std::string name;  // may be empty
  std::string type;
};
struct DeclaredProbeDesc {
  std::string name;
  std::vector<ProbeArgumentDesc> arguments;   // as the program passes them
  std::vector<ProbeArgumentDesc> translated;  // as a script sees them
};
struct ProviderDesc {
  std::string name;
  std::array<dif::Attributes, 5> attributes;  // of the provider, its modules, functions, names and arguments
  std::vector<DeclaredProbeDesc> probes;
  // One line of D, to be embedded in the instrumented program. It names only types that this program defines.
  std::string declaration;
};

// A name that the script or a library defines, for editors. Types are spelled as in D.
struct NameDesc {
  enum class Kind : uint8_t { variable, aggregation, constant, type };
  Kind kind = Kind::variable;
  std::string name;  // "self->x", "@a", "struct s"
  std::string text;  // its declaration; that of a type includes the members
};

// One probe, as dtrace -lv describes it. Argument types are spelled as in D.
struct ProbeDescription {
  dif::Attributes probe, arguments;
  std::vector<std::string> argument_types;
};

struct CompileResult {
  std::vector<CompiledSource> programs;  // one a source; empty when there was an error
  std::vector<Diagnostic> diagnostics;
  std::vector<ProviderDesc> providers;         // declared in the sources, not in libraries; sorted by name
  std::vector<ProbeDescription> descriptions;  // of CompileOptions::described, in its order
  std::vector<NameDesc> names;                 // present even if there are errors
};

// Compiles all sources together: they share globals, inlines and aggregations, as the programs of one dtrace command do. Ids of
// variables and aggregations are unique across them. Accepts any text. Never throws.
CompileResult compile(std::span<const Source> sources, const CompileOptions& options);

// A member of a structure or union, for editors. The type is spelled as in D.
struct MemberOfType {
  std::string name, type;
};
// The members that may follow the last -> or . of the source; the text after it is ignored. Empty: the operand has no members.
std::vector<MemberOfType> members_of_last(const Source& source, CompileOptions options);

// A diagnostic as text, in the form of dtrace:
//   dvm: failed to compile script x.d: [D_SYNTAX] line 3: syntax error near "y"      (-n: "invalid probe specifier TEXT: ...")
// (in a library: "failed to compile script x.d: [D_SYNTAX] "lib/y.d", line 3: ...")
//       y = 2;
//       ^
//       hint: is a ';' missing before it?
// For an included file, the file comes before the line, and the including places follow the text. For a line that the
// preprocessor made, the original is shown too. The tag is shown only with show_tag, as dtrace does with -x errtags.
std::string render(const Diagnostic& diagnostic, const Source& source, bool show_tag);

// The description of a probe, as dtrace -lv prints it below the probe's line.
std::string probe_report(const ProbeDescription& probe);

// The stability of a program, as dtrace -v reports it.
std::string stability_report(const Source& source, const CompiledSource& compiled);

// Golden forms for tests and `dvm compile`: the AST after parsing, and the DIF listing of every clause.
std::string print_ast(const Source& source, std::vector<Diagnostic>& diagnostics);
std::string print_dif(const dif::Program& program);

}  // namespace dvm::compiler
