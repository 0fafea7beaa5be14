#pragma once
// The providers, made from providers.def. Each turns probe descriptions into probes of the catalog. Some add all their probes at
// the first call; profile, pid and usdt add only those that a description names, because all processes have millions. Consumer
// context.

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

// The timer that the name field of a description means. Nothing: it is not a timer, or not a valid one.
std::optional<TimerSite> timer_of(const dif::ProbeDesc& description);

// Names of timers that begin with the text, for completion: the predefined timers of DTrace, and a number with each unit.
std::vector<std::string> timer_names(const std::string& begin);

// The pid provider for other files than those that processes have mapped.
std::unique_ptr<Provider> make_pid_provider(ObjectsOf objects);
// Likewise the usdt provider.
std::unique_ptr<Provider> make_usdt_provider(ObjectsOf objects);

// A short description of a provider. A process id may follow the name. Empty: there is no such provider.
std::string_view provider_text(std::string_view name);

// Why dvm does not have this provider of DTrace, and what to use instead. Empty: it is none of absent.def.
std::string refusal_of_absent(std::string_view provider);

// All providers, in the order of the table.
std::vector<std::unique_ptr<Provider>> make_providers();

}  // namespace dvm::runtime
