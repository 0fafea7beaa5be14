// Directives. Tests: tests/golden/sema (err.D_PRAGMA_*.d, err.D_ATTR_MIN.*.d, tst.pragmas.d).
#include "compiler/sema/pragma.h"

#include <fmt/format.h>

#include <cctype>
#include <set>
#include <string>
#include <string_view>

#include "compiler/sema/macros.h"
#include "compiler/source/words.h"
#include "dvm/dif/option.h"
#include "dvm/dif/probe_desc.h"

namespace dvm::compiler {

namespace {

using Words = std::vector<std::string>;

// Strings of another size change the room for alloca(), unless scratchsize is set.
void set_string_size(const dif::Options& set, CompileOptions& how) {
  dif::Options former;
  const bool is_default = former.set("strsize", std::to_string(how.string_size)) && !how.settled.contains("scratchsize") &&
                          how.scratch_size == dif::scratch_size(former);
  if (is_default) how.scratch_size = dif::scratch_size(set);
  how.string_size = static_cast<uint64_t>(set[dif::Option::strsize]);
}

// Some options are the compiler's own, from their line on.
void take_effect(std::string_view name, const dif::Options& set, Session& s) {
  CompileOptions& how = s.options;
  if (how.settled.contains(std::string(name))) return;
  if (name == "defaultargs") how.default_arguments = set[dif::Option::defaultargs] != 0;
  if (name == "argref") how.refuse_unused_arguments = set[dif::Option::argref] == 0;
  if (name == "zdefs") how.allow_zero_matches = set[dif::Option::zdefs] != 0;
  if (name == "amin") how.minimum = dif::unpack_attributes(set[dif::Option::amin]);
  if (name == "version") how.version = static_cast<uint32_t>(set[dif::Option::version]);
  if (name == "scratchsize") how.scratch_size = dif::scratch_size(set);
  if (name == "strsize") set_string_size(set, how), s.types.set_string_size(how.string_size);
}

void malformed(const Pragma& pragma, std::string_view name, std::string_view expected, Session& s) {
  s.error(Tag::D_PRAGMA_MALFORM, pragma.where, fmt::format("malformed #pragma {} {}", name, expected));
}

void set_option(const Pragma& pragma, const Words& w, Session& s, std::vector<std::pair<std::string, std::string>>& options) {
  if (w.size() < 4) return malformed(pragma, "option", "<option>=<val>", s);
  if (w.size() > 4) return s.error(Tag::D_PRAGMA_MALFORM, pragma.where, "superfluous arguments specified for #pragma option");
  const auto setting =
      dif::expand_macros(w[3], [&](std::string_view macro, size_t) { return macro_text(macro, pragma.where, s); });
  if (!setting) return;
  const size_t equals = setting->find('=');
  const std::string name = setting->substr(0, equals), value = equals == std::string::npos ? "" : setting->substr(equals + 1);
  dif::Options scratch;
  if (const Status set = scratch.set(name, value, dif::OptionTime::program); !set)
    return s.error(Tag::D_PRAGMA_OPTSET, pragma.where,
                   fmt::format("failed to set option '{}'{}: {}", name, value.empty() ? "" : fmt::format(" to '{}'", value),
                               set.error().message),
                   dif::option_hints(name));
  take_effect(name, scratch, s);
  if (name == "version" && !s.in_library) s.symbols.set_version(s.options.version);
  options.emplace_back(name, value);
}

void apply_to(Symbol& symbol, const PendingPragma& p) {
  if (p.attributes) symbol.attributes = *p.attributes;
  if (p.version) symbol.version = *p.version;
}

// False: it is not declared yet.
bool apply_to_translator(const PendingPragma& p, Translators& translators) {
  if (translators.all().size() <= p.translators) return false;
  if (p.attributes) translators.all()[p.translators].attributes = *p.attributes;
  return true;
}

// To what is declared in this file, now or later.
void apply_or_keep(PendingPragma pending, Session& s) {
  Symbol* symbol = s.symbols.find(dif::Scope::global, pending.name);
  if (symbol && symbol->file != &s.diagnostics.file())
    return s.error(Tag::D_PRAGMA_SCOPE, pending.where,
                   fmt::format("#pragma {} cannot modify entity defined outside program scope", pending.pragma));
  if (symbol) return apply_to(*symbol, pending);
  pending.translators = s.translators.all().size();
  s.pragmas.push_back(std::move(pending));
}

void provider_attributes(const Pragma& pragma, const Words& w, const dif::Attributes& attributes, Session& s) {
  if (w.size() < 7) return malformed(pragma, "attributes", "<attributes> provider <name> <part>", s);
  const std::optional<ProviderPart> part = find_provider_part(w[6]);
  if (!part)
    return s.error(Tag::D_PRAGMA_INVAL, pragma.where,
                   fmt::format("invalid component \"{}\" in attribute #pragma for provider {}", w[6], w[5]),
                   {"the components are provider, module, function, name and args"});
  s.providers.set_attributes(w[5], *part, attributes);
}

void set_attributes(const Pragma& pragma, const Words& w, Session& s) {
  if (w.size() < 5) return malformed(pragma, "attributes", "<attributes> <ident>", s);
  const auto attributes = dif::parse_attributes(w[3]);
  if (!attributes)
    return s.error(
        Tag::D_PRAGMA_INVAL, pragma.where, "invalid attributes specified by #pragma attributes",
        {"write attributes like Stable/Stable/Common: stability of the name, stability of the data, dependency class"});
  if (w[4] == "provider") return provider_attributes(pragma, w, *attributes, s);
  apply_or_keep({"attributes", w[4], pragma.where, *attributes, {}}, s);
}

void set_binding(const Pragma& pragma, const Words& w, Session& s) {
  const bool is_quoted = w.size() >= 5 && w[3].size() >= 2 && w[3].front() == '"' && w[3].back() == '"';
  if (!is_quoted) return malformed(pragma, "binding", "\"version\" <ident>", s);
  const auto version = dif::parse_version(std::string_view(w[3]).substr(1, w[3].size() - 2));
  if (!version) return s.error(Tag::D_PRAGMA_INVAL, pragma.where, "invalid version string specified by #pragma binding");
  apply_or_keep({"binding", w[4], pragma.where, {}, *version}, s);
}

// Dependencies of a library are not checked here: order_libraries() has done so.
void depend(const Pragma& pragma, const Words& w, Session& s) {
  if (w.size() < 5) return malformed(pragma, "depends_on", "<class> <name>", s);
  if (w[3] != "provider" && w[3] != "module" && w[3] != "library")
    return s.error(Tag::D_PRAGMA_INVAL, pragma.where, fmt::format("invalid class {} specified by #pragma depends_on", w[3]),
                   {"the classes are provider, module and library"});
  if (s.in_library) return;
  if (w[3] == "library")
    return s.error(Tag::D_PRAGMA_DEPEND, pragma.where, "main program may not explicitly depend on a library");
  ProbeCatalog* catalog = s.options.catalog;
  if (w[3] == "provider" && (!catalog || catalog->has_provider(w[4]))) return;
  s.error(Tag::D_PRAGMA_DEPEND, pragma.where, fmt::format("program requires {} {}", w[3], w[4]),
          w[3] == "module" ? std::vector<std::string>{"dvm does not see the modules of the kernel"} : std::vector<std::string>{});
}

bool is_decimal(const std::string& word) { return word.find_first_not_of("0123456789") == std::string::npos; }

// SourceFile has applied it; `first` is the word that is the number of a line.
void check_line(const Pragma& pragma, const Words& w, size_t first, Session& s) {
  const bool has_number = w.size() > first && is_decimal(w[first]);
  if (!has_number || (w.size() > first + 1 && !w[first + 1].starts_with('"')))
    s.error(Tag::D_PRAGMA_MALFORM, pragma.where, "malformed #line directive: expected <line> [\"<file>\"]");
}

void refuse_directive(const Pragma& pragma, const std::string& name, Session& s) {
  static const std::set<std::string_view> kOfPreprocessor = {"define", "elif",   "else",    "endif", "if",
                                                             "ifdef",  "ifndef", "include", "undef", "warning"};
  s.error(Tag::D_PRAGCTL_INVAL, pragma.where, fmt::format("invalid control directive: #{}", name),
          kOfPreprocessor.contains(name) ? std::vector<std::string>{"-C runs the C preprocessor"} : std::vector<std::string>{});
}

}  // namespace

void apply(const Pragma& pragma, Session& s, std::vector<std::pair<std::string, std::string>>& options) {
  const Words w = split_words(pragma.text);
  if (w.empty() || w[0] == "ident") return;
  const bool is_marker = std::isdigit(static_cast<unsigned char>(w[0][0]));
  if (is_marker || w[0] == "line") return check_line(pragma, w, is_marker ? 0 : 1, s);
  if (w[0] == "error") return s.error(Tag::D_PRAGERR, pragma.where, fmt::format("#{}", pragma.text));
  if (w[0] != "pragma") return refuse_directive(pragma, w[0], s);
  if (w.size() < 2 || w[1] == "ident") return;
  if (w[1] == "error") return s.error(Tag::D_PRAGERR, pragma.where, fmt::format("#{}", pragma.text));
  if (w[1] != "D") return;  // of another language
  if (w.size() < 3) return s.error(Tag::D_PRAGMA_MALFORM, pragma.where, "malformed #pragma D: expected a keyword");
  if (w[2] == "option") return set_option(pragma, w, s, options);
  if (w[2] == "attributes") return set_attributes(pragma, w, s);
  if (w[2] == "binding") return set_binding(pragma, w, s);
  if (w[2] == "depends_on") return depend(pragma, w, s);
  if (w[2] == "error") return s.error(Tag::D_PRAGERR, pragma.where, fmt::format("#{}", pragma.text));
  if (w[2] == "line" || w[2] == "ident") return;
  s.error(Tag::D_PRAGMA_INVAL, pragma.where, fmt::format("invalid D pragma: {}", w[2]),
          {"the pragmas of D are option, attributes, binding and depends_on"});
}

void apply_pending(Session& s) {
  std::erase_if(s.pragmas, [&](const PendingPragma& p) {
    if (p.name == "translator") return apply_to_translator(p, s.translators);
    Symbol* symbol = s.symbols.find(dif::Scope::global, p.name);
    if (symbol) apply_to(*symbol, p);
    return symbol != nullptr;
  });
}

void finish_pragmas(Session& s) {
  for (const PendingPragma& p : s.pragmas)
    s.error(Tag::D_PRAGMA_UNUSED, p.where, fmt::format("unused #pragma {} {}", p.pragma, p.name));
  s.pragmas.clear();
}

}  // namespace dvm::compiler
