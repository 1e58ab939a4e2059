#include "compiler/frontend/hlo/scopes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace systole::hlo {
namespace {

/// What JAX puts into the names of operations for loops, choices, calls and its own transformations.
bool is_structure(std::string_view part) {
    static constexpr std::array<std::string_view, 14> names{
        "body",       "checkpoint", "closed_call",          "cond",
        "core_call",  "cond_fun",   "custom_jvp_call",      "custom_vjp_call",
        "remat",      "remat2",     "rematted_computation", "shard_map",
        "shmap_body", "while"};
    const bool is_branch = part.starts_with("branch_") && part.ends_with("_fun");
    return is_branch || std::ranges::find(names, part) != names.end();
}

/// Whether what stands in the parentheses behind the word is the name of a function.
bool names_function(std::string_view word) {
    return word == "jit" || word == "pjit" || word == "xla_call" || word == "pmap";
}

}  // namespace

Scope scope_of(std::string_view op_name) {
    op_name = op_name.substr(0, op_name.find(';'));
    Scope scope;
    std::vector<bool> hides;  // for each open parenthesis: whether it holds the name of a function
    std::size_t hidden = 0;   // so many of them do
    std::string part;
    const auto end_part = [&] {
        if (!part.empty() && hidden == 0 && !is_structure(part)) {
            scope.path += (scope.path.empty() ? "" : "/") + part;
        }
        part.clear();
    };
    // The last part, outside of parentheses, names the operation.
    const std::size_t slash = op_name.rfind('/');
    const std::string_view last = slash == std::string_view::npos ? op_name : op_name.substr(slash + 1);
    const bool ends_in_function = !last.empty() && last.back() == ')';
    if (!ends_in_function) op_name = slash == std::string_view::npos ? "" : op_name.substr(0, slash);
    for (const char c : op_name) {
        if (c == '/') {
            end_part();
        } else if (c == '(') {
            scope.is_backward |= part == "transpose";
            hides.push_back(names_function(part));
            hidden += hides.back() ? 1 : 0;
            part.clear();
        } else if (c == ')' && !hides.empty()) {
            end_part();
            hidden -= hides.back() ? 1 : 0;
            hides.pop_back();
        } else {
            part += c;
        }
    }
    end_part();
    return scope;
}

ScopeId ScopeTable::add(const std::string& op_name) {
    const auto known = names_.find(op_name);
    if (known != names_.end()) return known->second;
    Scope scope = scope_of(op_name);
    const auto [place, is_new] =
        ids_.try_emplace({scope.path, scope.is_backward}, static_cast<ScopeId>(scopes_.size()));
    if (is_new) scopes_.push_back(std::move(scope));
    names_.emplace(op_name, place->second);
    return place->second;
}

}  // namespace systole::hlo
