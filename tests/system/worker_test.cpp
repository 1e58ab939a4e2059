#include "sim/run/execute/worker.h"

#include <fcntl.h>

#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "sim/run/execute/process.h"
#include "sim/run/record/bytes.h"
#include "sim/run/record/record.h"
#include "sim/run/run_config.h"
#include "tests/support/files.h"
#include "tests/system/sim_process.h"

using namespace systole;
using namespace systole::tests;

namespace {

/// The message with a content that is a file.
std::string message_of(const run::Content& content) {
    const std::string bytes = text_in(content.path.text);
    const std::string header =
        run::to_bytes(run::ContentHeader{.name = content.name,
                                         .hash = content.hash,
                                         .is_folder = false,
                                         .files = {{.name = content.name, .bytes = bytes.size()}}});
    return run::content_message + run::length_text(header.size()) + header + bytes;
}

TEST_CASE("A worker answers specs on its input with records on its output", "[system]") {
    CHECK(sim("worker < /dev/null").out.empty());

    run::RunConfig config;
    config.file = project / "configs/runs/mnist_cnn.json";
    config.machine = "tpu_v1";
    config.model = "models/mnist_cnn/mnist_cnn.h5";
    config.batch = 16;
    config.limit = 32;
    config.timing_only = true;
    run::RunSpec spec = run::make_spec(config);
    const Folder folder;
    const std::string in = folder.file("in", "");
    {
        const run::Descriptor file(::open(in.c_str(), O_WRONLY | O_CLOEXEC));
        REQUIRE(file.number() >= 0);
        const auto say = [&](const std::string& message) {
            REQUIRE(run::write_message(file.number(), message));
        };
        for (const run::Content* content : run::contents_of(spec)) say(message_of(*content));
        say(run::spec_message + run::to_bytes(spec));
        spec.machine.unified_buffer.rows = 2;  // too small for it
        say(run::spec_message + run::to_bytes(spec));
    }
    const std::string out = (folder / "out").string();
    const Outcome outcome = sim("worker < " + in + " > " + out);
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);

    const run::Descriptor file(::open(out.c_str(), O_RDONLY | O_CLOEXEC));
    const std::optional<std::string> first = run::read_message(file.number());
    REQUIRE(first);
    REQUIRE(first->front() == run::record_message);
    const run::RunRecord record = run::read_record(std::string_view(*first).substr(1));
    CHECK(record.program.model == "mnist_cnn");
    CHECK(record.program.inferences == 32);
    const auto report = report_of("mnist_cnn --batch 16 --limit 32 --timing-only --no-explain");
    CHECK(record.cycles == report["cycles"].get<std::uint64_t>());
    const std::optional<std::string> second = run::read_message(file.number());
    REQUIRE(second);
    CHECK(second->front() == run::error_message);
    CHECK(second->size() > 20);
    CHECK_FALSE(run::read_message(file.number()));
}

}  // namespace
