#include "compiler/frontend/hlo/scopes.h"

#include <catch2/catch.hpp>

namespace systole::hlo {
namespace {

TEST_CASE("Names of operations give their scope and whether they belong to the gradient", "[hlo]") {
    struct Case {
        std::string_view name;
        Scope scope;
    };
    const std::vector<Case> cases{
        {"", {}},
        {"add", {}},
        {"jit(step)/mul", {}},
        {"jit(step)/conv1/mul", {"conv1", false}},
        {"jit(step)/jvp(conv1)/mul", {"conv1", false}},
        {"jit(step)/jvp()/mul", {"", false}},
        {"jit(step)/transpose(jvp(conv1))/mul", {"conv1", true}},
        {"jit(step)/transpose(jvp(block))/conv1/mul", {"block/conv1", true}},
        {"transpose(jvp())/mul", {"", true}},
        {"jit(step)/jvp(norm1)/jit(_var)", {"norm1", false}},
        {"jit(step)/jvp(norm1)/jit(_var)/square", {"norm1", false}},
        {"jit(step)/vmap(rows)/gather", {"rows", false}},
        {"jit(step)/transpose(jvp(a/b))/mul", {"a/b", true}},
        {"jit(step)/transpose(jvp(a))", {"a", true}},
        {"jit(step)/while/body/closed_call/cell/tanh", {"cell", false}},
        {"jit(step)/cond/branch_12_fun/mul", {}},
        {"jit(step)/checkpoint/rematted_computation/sin", {}},
        {"a/add;jit(step)/b/add", {"a", false}},
        // Names that only look like these.
        {"f(x/y", {"x", false}},
        {"x)y/z", {"x)y", false}},
        {"jit(a(b)c)/d/e", {"d", false}},
    };
    for (const Case& one : cases) {
        INFO(one.name);
        CHECK(scope_of(one.name).path == one.scope.path);
        CHECK(scope_of(one.name).is_backward == one.scope.is_backward);
    }
}

TEST_CASE("A name of many parentheses takes no more time than its length", "[hlo]") {
    const std::string open(1'000'000, '(');
    const std::string close(1'000'000, ')');
    CHECK(scope_of(open + "jit(" + close).path.empty());
}

TEST_CASE("Each scope is in the table once", "[hlo]") {
    ScopeTable table;
    CHECK(table.add("jit(f)/a/mul") == 0);
    CHECK(table.add("jit(f)/transpose(jvp(a))/mul") == 1);
    CHECK(table.add("jit(f)/jvp(a)/add") == 0);
    CHECK(table.add("jit(f)/a/mul") == 0);
    const std::vector<Scope> scopes = table.take();
    CHECK(scopes == std::vector<Scope>{{"a", false}, {"a", true}});
}

}  // namespace
}  // namespace systole::hlo
