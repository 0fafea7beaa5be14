// dvm header: a C header that makes the probes of a provider declaration, as dtrace -h does. Covered by
// tests/runtime/scenarios/test_header.py.
//
//   provider disk { probe start__io(int, char *); };      DISK_START_IO(unit, name), DISK_START_IO_ENABLED()
//
// Each macro leaves a nop, and a note that gives the places of the arguments (runtime/symbol/stapsdt.h), by its own inline
// assembly, so that building the program needs only the header. The nop has one byte. Linux 6.18 turns a nop of five bytes into a
// call, which is faster, but overwrites what a leaf function keeps below its stack pointer. The targets of pointer arguments are
// in memory by then, also in optimized programs. A variable that all files of the program share counts the tracers that have the
// probe enabled.

#include "cmd/header.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cmd/command.h"
#include "cmd/script.h"
#include "common/output_file.h"
#include "runtime/symbol/declared_providers.h"

namespace dvm::cmd {
namespace {

constexpr size_t kMostArguments = 10;  // arg0 to arg9

struct HeaderCommand {
  ScriptOptions script;
  std::string output;  // "-": standard output; empty: named as the script
};

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string replaced(std::string_view text, char what, std::string_view by) {
  std::string out;
  for (char c : text) c == what ? out.append(by) : out.append(1, c);
  return out;
}

// How a type is declared that the header need not know.
std::string c_type(const std::string& type) {
  const bool is_pointer = type == "string" || type.find_first_of("*[") != std::string::npos;
  return is_pointer ? "const volatile void *" : type;
}

Status check(const compiler::ProviderDesc& provider, const compiler::DeclaredProbeDesc& probe) {
  for (const compiler::ProbeArgumentDesc& argument : probe.arguments)
    for (const char* kind : {"struct ", "union "})
      if (argument.type.starts_with(kind) && c_type(argument.type) == argument.type)
        return Error{fmt::format("probe {}:{} has an argument of type {}, which is neither a number nor a pointer", provider.name,
                                 probe.name, argument.type)};
  return {};
}

// format(0), format(1), ... with something between.
template <class Format>
std::string joined(size_t count, std::string_view between, Format&& format) {
  std::string text;
  for (size_t n = 0; n < count; n++) text += (n ? std::string(between) : "") + format(n);
  return text;
}

// {0} names both the function and the semaphore, {1} the provider, {2} the probe as notes name it.
constexpr std::string_view kNote = R"(  __asm__ volatile (
    "990:\tnop\n"
    "\t.pushsection .note.stapsdt, \"?\", \"note\"\n"
    "\t.balign 4\n"
    "\t.4byte 992f-991f, 994f-993f, 3\n"
    "991:\t.asciz \"stapsdt\"\n"
    "992:\t.balign 4\n"
    "993:\t.8byte 990b\n"
    "\t.8byte _.stapsdt.base\n"
    "\t.8byte {0}_semaphore\n"
    "\t.asciz \"{1}\"\n"
    "\t.asciz \"{2}\"\n"
    "\t.asciz \"{3}\"\n"
    "994:\t.balign 4\n"
    "\t.popsection\n"
    "\t.ifndef _.stapsdt.base\n"
    "\t.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
    "\t.weak _.stapsdt.base\n"
    "\t.hidden _.stapsdt.base\n"
    "_.stapsdt.base:\t.space 1\n"
    "\t.size _.stapsdt.base, 1\n"
    "\t.popsection\n"
    "\t.endif\n"
)";

std::string function_of(const std::string& provider, const compiler::DeclaredProbeDesc& probe, const ProbeNames& names) {
  const size_t count = std::min(probe.arguments.size(), kMostArguments);
  const auto type = [&](size_t n) { return c_type(probe.arguments[n].type); };
  const auto parameters = joined(probe.arguments.size(), ", ", [&](size_t n) {
    return fmt::format("{} a{}{}", type(n), n, n < kMostArguments ? "" : " DVM_UNUSED");
  });
  const auto places = joined(count, " ", [](size_t n) { return fmt::format("%c[s{0}]@%[a{0}]", n); });
  const auto operands = joined(count, ",\n       ", [&](size_t n) {
    return fmt::format("[s{0}] \"n\" (DVM_SIZE ({1})), [a{0}] \"nor\" (a{0})", n, type(n));
  });
  return fmt::format(
      "extern volatile unsigned short {0}_semaphore;\n"
      "__attribute__ ((weak, visibility (\"hidden\"), section (\".probes\"), used)) volatile unsigned short {0}_semaphore;\n"
      "static inline __attribute__ ((always_inline)) void {0} ({1}) {{\n{2}    :: {3} : \"memory\");\n}}\n",
      names.symbol, parameters.empty() ? "void" : parameters,
      fmt::format(fmt::runtime(kNote), names.symbol, provider, names.note, places), operands);
}

std::string macros_of(const compiler::DeclaredProbeDesc& probe, const ProbeNames& names, bool is_there) {
  const auto arguments = joined(probe.arguments.size(), ", ", [](size_t n) { return fmt::format("a{}", n); });
  if (!is_there) return fmt::format("#define {0}({1}) ((void) 0)\n#define {0}_ENABLED() 0\n", names.macro, arguments);
  return fmt::format("#define {0}({1}) {2} ({3})\n#define {0}_ENABLED() __builtin_expect ({2}_semaphore != 0, 0)\n", names.macro,
                     arguments, names.symbol,
                     joined(probe.arguments.size(), ", ", [](size_t n) { return fmt::format("(a{})", n); }));
}

constexpr std::string_view kBegin =
    R"(/* Made by dvm header: probes for programs in C and C++. Without DVM_NO_PROBES, on x86-64, each is a nop. */
#ifndef {0}
#define {0}

#if defined (__x86_64__) && defined (__ELF__) && !defined (DVM_NO_PROBES)
#include <stdint.h>
#include <sys/types.h>

#ifndef DVM_SIZE
/* As notes have it: below 0 for what has a sign. */
#define DVM_SIZE(type) (((type) -1 < (type) 1 ? -1 : 1) * (int) sizeof (type))
#define DVM_UNUSED __attribute__ ((unused))
#endif

#ifdef __cplusplus
extern "C" {{
#endif

)";
constexpr std::string_view kMiddle = R"(
#ifdef __cplusplus
}
#endif

#else

)";

// Read by runtime/symbol/declared_providers.h. Linkers keep one of equal strings.
std::string carried(const std::string& declaration) {
  return fmt::format(
      "__asm__ (\n"
      "    \"\\t.pushsection {}, \\\"MS\\\", \\\"progbits\\\", 1\\n\"\n"
      "    \"\\t.asciz \\\"{}\\\"\\n\"\n"
      "    \"\\t.popsection\\n\");\n\n",
      runtime::kProviderSection, declaration);
}

void tell_of_left_out(const std::vector<compiler::ProviderDesc>& providers) {
  for (const compiler::ProviderDesc& provider : providers)
    for (const compiler::DeclaredProbeDesc& probe : provider.probes)
      if (probe.arguments.size() > kMostArguments)
        tell("probe {}:::{} has {} arguments; scripts can read the first {}", provider.name, probe.name, probe.arguments.size(),
             kMostArguments);
}

Result<std::string> make_header(const std::vector<compiler::ProviderDesc>& providers, const std::string& guard) {
  std::string functions, macros, nothing;
  for (const compiler::ProviderDesc& provider : providers) {
    functions += carried(provider.declaration);
    for (const compiler::DeclaredProbeDesc& probe : provider.probes) {
      if (Status fine = check(provider, probe); !fine) return fine.error();
      const ProbeNames names = probe_names(provider.name, probe.name);
      functions += function_of(provider.name, probe, names) + macros_of(probe, names, true) + "\n";
      nothing += macros_of(probe, names, false);
    }
  }
  return fmt::format(fmt::runtime(kBegin), guard) + functions + std::string(kMiddle) + nothing + "\n#endif\n#endif\n";
}

std::string guard_of(const std::string& path) {
  std::string guard = "DVM_";
  for (unsigned char c : path.substr(path.rfind('/') + 1)) guard += std::isalnum(c) ? static_cast<char>(std::toupper(c)) : '_';
  return path == "-" ? "DVM_PROBES_H" : guard;
}

int write_header(const std::string& path, const std::string& text) {
  if (path == "-") return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;  // main() says why
  if (Status written = write_file(path, text); !written) return fail("{}", written.error().message);
  return 0;
}

}  // namespace

ProbeNames probe_names(const std::string& provider, const std::string& probe) {
  ProbeNames names;
  names.note = replaced(probe, '-', "__");
  names.symbol = fmt::format("dvm_{}_{}", provider, names.note);
  names.macro = upper(fmt::format("{}_{}", provider, replaced(probe, '-', "_")));
  return names;
}

std::string file_beside(const compiler::Source& source, std::string_view extension) {
  if (source.is_description || !source.name.ends_with(".d")) return {};
  const size_t begin = source.name.rfind('/') + 1;
  return source.name.substr(begin, source.name.size() - 1 - begin).append(extension);
}

namespace {

std::optional<DeclaringSources> compile_providers(std::vector<compiler::Source> sources, const ScriptOptions& script,
                                                  dif::Options options, bool shows_warnings) {
  DeclaringSources made{std::move(sources), {}, options};
  CompileAgainst against;
  against.shows_warnings = shows_warnings;
  against.declared = &made.providers;
  if (compile_sources(made.sources, script, against, options).empty()) return std::nullopt;
  return made;
}

}  // namespace

std::optional<DeclaringSources> declared_providers(const ScriptOptions& script) {
  Result<dif::Options> options = run_time_options(script);
  if (!options) return fail("{}", options.error().message), std::nullopt;
  Result<std::vector<compiler::Source>> read = read_sources(script, *options);
  if (!read) return fail("{}", read.error().message), std::nullopt;
  return compile_providers(*std::move(read), script, *options, true);
}

std::optional<DeclaringSources> providers_of_first(size_t count, const DeclaringSources& all, const ScriptOptions& script) {
  ScriptOptions silent = script;
  silent.verbose = false;
  const auto begin = all.sources.begin();
  return compile_providers({begin, begin + static_cast<std::ptrdiff_t>(count)}, silent, all.options, false);
}

int write_probe_header(const ScriptOptions& script, const std::string& output, const char* caller) {
  const std::optional<DeclaringSources> made = declared_providers(script);
  if (!made) return 1;
  const auto& [sources, providers, options] = *made;
  const std::string path = !output.empty() ? output : sources.size() == 1 ? file_beside(sources[0], "h") : "";
  if (path.empty())
    return fail("{} requires an output file if {} scripts are specified\n    hint: -o FILE names it", caller,
                sources.size() > 1 ? "multiple" : "no"),
           kBadUsage;
  if (providers.empty()) tell("{} declares no probes: write provider NAME {{ probe NAME(TYPES); }};", sources[0].name);
  Result<std::string> header = make_header(providers, guard_of(path));
  if (!header) return fail("{}", header.error().message);
  const int status = write_header(path, *header);
  if (status == 0) tell_of_left_out(providers);
  return status;
}

void add_header(CLI::App& app, CommandAction& chosen) {
  auto given = std::make_shared<HeaderCommand>();
  CLI::App* command = add_command(app, "header", "Write a C header for the probes that a script declares",
                                  {"dvm header -s provider.d -o provider.h"});
  add_script_options(*command, given->script, "[SCRIPT]");
  for (const char* of_probes : {"-v", "-P", "-m", "-f", "-i", "-Z"}) command->remove_option(command->get_option(of_probes));
  command
      ->add_option("-o", given->output,
                   "Write the header to this file; - is standard output (default: named as the script, with .h)")
      ->type_name("FILE");
  command->callback(
      [given, &chosen] { chosen = [given] { return write_probe_header(given->script, given->output, "header"); }; });
}

}  // namespace dvm::cmd
