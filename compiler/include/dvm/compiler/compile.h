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

// One program: a script (-s) or a text of the command line (-n).
struct Source {
  std::string name;  // of the script; for -n its text
  std::string text;
  bool is_description = false;  // from -n
  std::string original = {};    // what the text was before the C preprocessor; empty: the text is what was written
};

// A file of declarations that programs share.
struct Library {
  Source source;          // its name is its path
  bool if_named = false;  // read only when a program names something that it defines
};

struct CompileOptions {
  std::vector<std::string> arguments;         // $0 (the script's name), $1 ...
  std::map<std::string, std::string> macros;  // pid, ppid, uid, euid, gid, egid, pgid, sid, target: without the $
  bool default_arguments = false;             // -x defaultargs
  bool allow_empty = false;                   // -x empty: a source may hold nothing
  bool allow_zero_matches = false;            // -Z, -x zdefs
  bool warn_zero_matches = false;             // a description without a match is a warning
  bool refuse_unused_arguments = false;       // unless -x argref: D_MACRO_UNUSED
  bool keep_target = false;                   // $target stays in probe descriptions
  bool refuse_target = false;                 // without a value, $target elsewhere is an error; otherwise it is 0
  bool print_tree = false;                    // make CompiledSource::tree
  bool list_names = false;                    // make CompileResult::names
  bool optimize = true;                       // false: unoptimized code, which must do the same
  std::vector<Library> libraries;             // compiled before the programs, in order of dependence
  dif::Attributes minimum{0, 0, 0};           // -x amin: refuses names that are less stable
  uint32_t version = dif::kNewestVersion;     // -x version: names of later versions are unknown
  bool prefers_probes = false;                // -x pspec: a word outside of clauses is a probe before it is a type
  uint64_t scratch_size = 16 << 20;           // -x scratchsize: the largest alloca()
  uint64_t string_size = 256;                 // -x strsize: sizeof (string)
  std::set<std::string> settled;              // options of the command line, which no pragma changes
  ProbeCatalog* catalog = nullptr;            // null: probe descriptions are not matched
  TypeCatalog* types = nullptr;               // null: there is no traced program to ask

  std::vector<dif::ProbeDesc> described;  // probes to put into CompileResult::descriptions

  // Sees each clause before its code is made: for tests, which may look into the compiler.
  std::function<void(const CheckedClause&)> inspect = {};
  // Sees each type that a member is selected of, in the order of checking.
  std::function<void(const Type&)> see_selected = {};
};

struct CompiledSource {
  dif::Program program;
  std::vector<std::pair<std::string, std::string>> options;  // #pragma D option name[=value], in order
  size_t matched = 0;                                        // probes, counted for each clause
  std::string tree;                                          // the checked clauses: a node a line, with its type
  dif::Attributes descriptions, statements;                  // the least stable of what they name
};

// A provider that a program declares: what a header for the programs that have its probes is made from. Types are spelled as D
// does.
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
  std::string declaration;  // in one line, for programs to carry: its types need nothing but the traced program
};

// A name that scripts use, for editors: of the script or of a library. Types are spelled as D does.
struct NameDesc {
  enum class Kind : uint8_t { variable, aggregation, constant, type };
  Kind kind = Kind::variable;
  std::string name;  // "self->x", "@a", "struct s"
  std::string text;  // its declaration; of a type, with its members
};

// One probe, as dtrace -lv describes it. Argument types are spelled as D does.
struct ProbeDescription {
  dif::Attributes probe, arguments;
  std::vector<std::string> argument_types;
};

struct CompileResult {
  std::vector<CompiledSource> programs;  // one a source; empty when there was an error
  std::vector<Diagnostic> diagnostics;
  std::vector<ProviderDesc> providers;         // that the sources declare, by name; libraries' are not there
  std::vector<ProbeDescription> descriptions;  // of CompileOptions::described, in its order
  std::vector<NameDesc> names;                 // also of sources with errors
};

// All sources share their globals, inlines and aggregations, as the programs of one dtrace command do, and so are compiled
// together; ids of variables and aggregations are unique across them. Never throws; any text at all may be given.
CompileResult compile(std::span<const Source> sources, const CompileOptions& options);

// A member of a structure or union, for editors. The type is spelled as D does.
struct MemberOfType {
  std::string name, type;
};
// The members that may stand behind the last -> or . of the source, whatever stands there. Empty: what is before it has none.
std::vector<MemberOfType> members_of_last(const Source& source, CompileOptions options);

// A diagnostic for people, dtrace's line first:
//   dvm: failed to compile script x.d: [D_SYNTAX] line 3: syntax error near "y"      (-n: "invalid probe specifier TEXT: ...")
// (in a library: "failed to compile script x.d: [D_SYNTAX] "lib/y.d", line 3: ...")
//       y = 2;
//       ^
//       hint: is a ';' missing before it?
// For an included file, it names the file before the line, and the including places after the text. For a line that the
// preprocessor made, it also shows the original. The tag is shown with show_tag only, as dtrace does with -x errtags.
std::string render(const Diagnostic& diagnostic, const Source& source, bool show_tag);

// The description of a probe, as dtrace -lv prints it below the probe's line.
std::string probe_report(const ProbeDescription& probe);

// The stability of a program, as dtrace -v reports it.
std::string stability_report(const Source& source, const CompiledSource& compiled);

// Golden forms for tests and `dvm compile`: the AST after parsing, and the DIF listing of every clause.
std::string print_ast(const Source& source, std::vector<Diagnostic>& diagnostics);
std::string print_dif(const dif::Program& program);

}  // namespace dvm::compiler
