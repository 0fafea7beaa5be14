#pragma once
// The providers, made from providers.def. Each turns probe descriptions into probes of the catalog: dtrace at the first question,
// profile and pid only what a description asks for, since all probes of all processes would be millions. Consumer context.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/runtime/provider.h"
#include "runtime/catalog/probe.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

#define DVM_PROVIDER(id, factory, name, text) std::unique_ptr<Provider> factory();
#include "runtime/provider/providers.def"
#undef DVM_PROVIDER

// The timer that a description names, by its name alone; none: it names no timer, or one that there cannot be.
std::optional<TimerSite> timer_of(const dif::ProbeDesc& description);

// Names of timers that begin with the text, for completion: those that DTrace has from the start, and a number with each unit.
std::vector<std::string> timer_names(const std::string& begin);

// The pid provider over other files than those that processes have mapped.
std::unique_ptr<Provider> make_pid_provider(ObjectsOf objects);
// Likewise the usdt provider.
std::unique_ptr<Provider> make_usdt_provider(ObjectsOf objects);

// The probes that a provider of this name has, in a few words. A process id may follow the name. Empty: there is none.
std::string_view provider_text(std::string_view name);

// All of them, in the order of the table.
std::vector<std::unique_ptr<Provider>> make_providers();

}  // namespace dvm::runtime
