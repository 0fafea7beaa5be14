// The order of D libraries. Tests: tests/unit/compiler/library_test.cpp, tests/runtime/scenarios/test_libraries.py.
#include "compiler/source/library.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/source/words.h"
#include "compiler/types/type_table.h"
#include "dvm/dif/variable.h"

namespace dvm::compiler {

namespace {

using Names = std::unordered_set<std::string_view>;

constexpr std::string_view kOfKernel = "dvm_kernel_";  // begins the inline that defines a variable of the kernel

// Words that say nothing about who defines them.
const Names& common_words() {
  static const Names kWords = [] {
    Names names = {"inline",   "translator", "provider", "typedef", "struct", "union",    "enum",     "xlate",  "const",
                   "volatile", "int",        "char",     "short",   "long",   "signed",   "unsigned", "void",   "string",
                   "float",    "double",     "self",     "this",    "sizeof", "stringof", "extern",   "static", "userland"};
    for (const std::string_view name : TypeTable::standard_names()) names.insert(name);
    for (const dif::BuiltInInfo& row : dif::kBuiltIns)
      if (row.family != dif::VariableFamily::none) names.insert(row.name);
    return names;
  }();
  return kWords;
}

struct Dependency {
  std::string kind, name;
};

// A library and what its text says without being parsed.
struct ScannedLibrary {
  const Library* library = nullptr;
  std::vector<Dependency> dependencies;
  Names words;  // what it may define or name
  bool has_providers = false;
  bool has_effects = false;  // it does more than define names
  enum class Mark : uint8_t { unknown, visiting, taken, skipped } mark = Mark::unknown;
};

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

void scan_directives(ScannedLibrary& entry) {
  for (const std::string_view directive : directives_of(entry.library->source.text)) {
    const std::vector<std::string> w = split_words(directive);
    const bool is_pragma = w.size() >= 3 && w[0] == "pragma" && w[1] == "D";
    if (is_pragma && w[2] == "depends_on" && w.size() >= 5) entry.dependencies.push_back({w[3], w[4]});
    if ((is_pragma && w[2] == "option") || (!w.empty() && w[0] == "error")) entry.has_effects = true;
  }
}

ScannedLibrary scan(const Library& library) {
  ScannedLibrary entry;
  entry.library = &library;
  scan_directives(entry);
  if (!library.if_named) return entry;
  for_each_word(library.source.text, [&](const ScannedWord& word) {
    if (word.depth != 0 && !word.in_enum) return;
    entry.has_providers |= word.text == "provider";
    if (!common_words().contains(word.text)) entry.words.insert(word.text);
    if (word.text.starts_with(kOfKernel)) entry.words.insert(word.text.substr(kOfKernel.size()));
  });
  return entry;
}

class Order {
 public:
  Order(std::span<const Library> libraries, Names named, const Provides& provides)
      : named_(std::move(named)), provides_(provides) {
    for (const Library& library : libraries)
      if (!find(file_name(library.source.name))) entries_.push_back(scan(library));  // the first of a name counts
  }

  LibraryOrder run() {
    bool went_on = true;
    while (went_on && result_.cycle.empty() && result_.missing.empty()) {
      went_on = false;
      for (ScannedLibrary& entry : entries_) {
        if (entry.mark != ScannedLibrary::Mark::unknown || !is_needed(entry)) continue;
        visit(entry);
        went_on = true;
      }
    }
    return std::move(result_);
  }

 private:
  ScannedLibrary* find(std::string_view name) {
    const auto it = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const ScannedLibrary& e) { return file_name(e.library->source.name) == name; });
    return it == entries_.end() ? nullptr : &*it;
  }

  bool is_needed(const ScannedLibrary& entry) const {
    if (!entry.library->if_named || entry.has_effects || (entry.has_providers && named_.contains("args"))) return true;
    return std::any_of(entry.words.begin(), entry.words.end(), [&](std::string_view word) { return named_.contains(word); });
  }

  // False: the dependency is not there.
  bool satisfy(const ScannedLibrary& entry, const Dependency& dependency) {
    if (dependency.kind != "library") return provides_(dependency.kind, dependency.name);
    ScannedLibrary* other = find(dependency.name);
    if (other == nullptr) note_missing(entry.library->source.name, dependency.name);
    return other && visit(*other);
  }

  // It is expected beside the library that depends on it.
  void note_missing(const std::string& library, const std::string& name) {
    if (!result_.missing.empty()) return;
    const std::string folder = library.substr(0, library.size() - file_name(library).size());
    result_.missing = "Invalid library dependency in " + library + ": " + folder + name;
  }

  bool visit(ScannedLibrary& entry) {
    if (entry.mark == ScannedLibrary::Mark::visiting) return note_cycle(entry), false;
    if (entry.mark != ScannedLibrary::Mark::unknown) return entry.mark == ScannedLibrary::Mark::taken;
    entry.mark = ScannedLibrary::Mark::visiting;
    path_.push_back(&entry.library->source);
    const bool satisfied =
        std::all_of(entry.dependencies.begin(), entry.dependencies.end(), [&](const Dependency& d) { return satisfy(entry, d); });
    path_.pop_back();
    entry.mark = satisfied ? ScannedLibrary::Mark::taken : ScannedLibrary::Mark::skipped;
    if (!satisfied) return false;
    result_.libraries.push_back(&entry.library->source);
    named_.insert(entry.words.begin(), entry.words.end());
    return true;
  }

  void note_cycle(const ScannedLibrary& entry) {
    if (!result_.cycle.empty()) return;
    result_.cycle.assign(std::find(path_.begin(), path_.end(), &entry.library->source), path_.end());
    result_.cycle.push_back(&entry.library->source);
  }

  Names named_;
  const Provides& provides_;
  std::vector<ScannedLibrary> entries_;
  std::vector<const Source*> path_;
  LibraryOrder result_;
};

}  // namespace

LibraryOrder order_libraries(std::span<const Library> libraries, std::span<const Source> programs,
                             const std::vector<std::string>& arguments, const Provides& provides) {
  if (libraries.empty()) return {};
  Names named;
  for (const Source& program : programs) for_each_word(program.text, [&](const ScannedWord& word) { named.insert(word.text); });
  for (const std::string& argument : arguments) named.insert(argument);  // $1 may stand for a name
  return Order(libraries, std::move(named), provides).run();
}

}  // namespace dvm::compiler
