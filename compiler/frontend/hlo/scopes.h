#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/frontend/hlo/module.h"

namespace systole::hlo {

/// The scope in the name of an operation, as JAX writes it: "jit(step)/transpose(jvp(conv1))/mul" belongs to
/// the gradient of conv1. The last part names the operation. Functions ("jit(f)") and the parts of loops,
/// choices and calls are no scopes. Of several names, joined by semicolons, the first one counts.
Scope scope_of(std::string_view op_name);

/// The scopes of a module, each once.
class ScopeTable {
public:
    ScopeId add(const std::string& op_name);
    /// The scopes by their numbers; nothing may be added afterwards.
    std::vector<Scope> take() { return std::move(scopes_); }

private:
    std::vector<Scope> scopes_;
    std::map<std::pair<std::string, bool>, ScopeId> ids_;
    std::map<std::string, ScopeId, std::less<>> names_;  ///< of operations
};

}  // namespace systole::hlo
