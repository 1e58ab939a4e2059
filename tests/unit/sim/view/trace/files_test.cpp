#include "tests/support/files.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/run/record/trace_config.h"
#include "sim/view/trace/chrome_events.h"
#include "sim/view/trace/output_file.h"
#include "sim/view/trace/text_buffer.h"
#include "sim/view/trace/tracer.h"
#include "sim/view/trace/worker.h"
#include "tests/support/timeline.h"

using namespace systole;
using tests::Folder;

TEST_CASE("A file that is written in pieces is complete, compressed or not", "[trace]") {
    const Folder folder;
    std::string text;
    {
        trace::OutputFile plain(folder / "plain");
        trace::GzipFile gzip(folder / "gzip");
        for (unsigned piece = 0; piece < 300; ++piece) {
            // From much that is alike to nothing that is.
            std::string more;
            for (unsigned i = 0; i < piece * 37; ++i) more += static_cast<char>(i * i * piece % 251);
            text += more;
            plain.write(more);
            gzip.write(more);
        }
        plain.close();
        gzip.close();
    }
    CHECK(tests::text_in(folder / "plain") == text);
    CHECK(tests::gunzipped(folder / "gzip") == text);
    CHECK(std::filesystem::file_size(folder / "gzip") < text.size());
}

TEST_CASE("Each kind of trace has a row in the table of files", "[trace]") {
    const trace::TraceConfig all{.kinds = trace::trace_kinds()};
    const auto files = trace::files_of(all);
    REQUIRE(files.size() == trace::trace_files.size());
    for (std::size_t i = 0; i < files.size(); ++i) CHECK(files[i].first == all.kinds.at(i));
}

TEST_CASE("A file that cannot be created or written is an error that names it", "[trace]") {
    const Folder folder;
    const std::string missing = (folder / "none/file").string();
    CHECK_THROWS_WITH(trace::OutputFile(missing),
                      missing + ": cannot be written: no file can be created in " +
                          (folder / "none").string() + ": No such file or directory");
    CHECK_THROWS_AS(trace::GzipFile(missing), OutputError);
    if (!std::filesystem::exists("/dev/full")) return;
    const auto fill = [](trace::OutputFile& file) {
        const std::string much(1U << 20U, 'x');
        for (int i = 0; i < 4; ++i) file.write(much);
        file.close();
    };
    trace::OutputFile plain("/dev/full");
    CHECK_THROWS_WITH(fill(plain), "/dev/full: cannot be written: No space left on device");
    trace::GzipFile gzip("/dev/full");
    CHECK_THROWS_WITH(fill(gzip), "/dev/full: cannot be written: No space left on device");
}

TEST_CASE("A text buffer writes numbers and words of any length, in pieces that end with a line", "[trace]") {
    const Folder folder;
    trace::OutputFile file(folder / "text");
    trace::TextBuffer text(file);
    const std::string long_word(1U << 19U, 'w');
    text << "a literal, " << std::string_view("a view, ") << 'c' << std::uint64_t{18446744073709551615U}
         << std::int64_t{-9223372036854775807 - 1} << std::int32_t{-7} << 0U << '\n'
         << long_word << '\n';
    text.end_line();
    CHECK(std::filesystem::directory_iterator(folder.path())->file_size() > long_word.size());
    text << "last\n";
    text.flush();
    file.close();
    CHECK(tests::text_in(folder / "text") ==
          "a literal, a view, c18446744073709551615-9223372036854775808-70\n" + long_word + "\nlast\n");
}

TEST_CASE("A worker processes all items in order, and reuses them", "[trace]") {
    std::vector<int> done;
    trace::Worker<std::vector<int>> worker(2, [&](std::vector<int>& item) {
        done.insert(done.end(), item.begin(), item.end());
        item.clear();
    });
    std::vector<int> expected;
    std::vector<int> item;
    for (int i = 0; i < 1000; ++i) {
        expected.push_back(i);
        item.push_back(i);
        item = worker.pass_on(std::move(item));
        CHECK(item.empty());
    }
    worker.finish();
    CHECK(done == expected);
}

TEST_CASE("A worker's error is thrown at its owner's next call, or ignored without one", "[trace]") {
    const auto fail = [](int& item) {
        if (item == 3) throw std::runtime_error("item 3");
    };
    trace::Worker<int> worker(1, fail);
    CHECK_THROWS_WITH(
        [&] {
            for (int i = 0; i < 1000; ++i) worker.pass_on(i);
        }(),
        "item 3");
    CHECK_THROWS_WITH(worker.finish(), "item 3");
    trace::Worker<int> silent(1, fail);
    silent.pass_on(3);
}

namespace {

nlohmann::json events_at(std::uint64_t clock_hz, const std::vector<Cycle>& borders) {
    const Folder folder;
    trace::OutputFile file(folder / "events");
    trace::ChromeEvents events(file, clock_hz);
    for (std::size_t i = 1; i < borders.size(); ++i) {
        events.begin_slice(trace::Track{3}, borders[i - 1], borders[i], "slice", "good") << ",\"more\":true";
        events.end_slice();
    }
    events.finish();
    file.close();
    return nlohmann::json::parse(tests::text_in(folder / "events"));
}

}  // namespace

TEST_CASE("Slices that touch in cycles touch or leave a gap for readers, at any clock", "[trace]") {
    const auto clock_hz =
        GENERATE(1000U, 333'300'000U, 700'000'000U, 1'000'000'000U, 1'050'000'000U, 2'000'000'000U);
    CAPTURE(clock_hz);
    // A double, as JSON's readers have it, tells nanoseconds apart for some weeks.
    const Cycle last = std::min<Cycle>(40'000'000'000U, Cycle{1'000'000} * clock_hz);
    std::vector<Cycle> borders{0};
    for (Cycle step = 1; borders.back() < last; step = step * 9 / 8 + 1) {
        for (int i = 0; i < 20; ++i) borders.push_back(borders.back() + 1);
        borders.push_back(borders.back() + step);
    }
    const nlohmann::json trace = events_at(clock_hz, borders);
    CHECK(trace.at("displayTimeUnit") == "ns");
    CHECK(trace.at("otherData").at("clock_hz") == clock_hz);
    const nlohmann::json& events = trace.at("traceEvents");
    REQUIRE(events.size() == borders.size() - 1);
    std::int64_t end_before = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
        const std::int64_t begin = tests::nanoseconds_of(events[i].at("ts"));
        const auto exact = static_cast<long double>(borders[i]) * 1e9L / clock_hz;
        REQUIRE(static_cast<long double>(begin) <= exact);
        REQUIRE(static_cast<long double>(begin) + 1.0L > exact - 1e-3L);
        REQUIRE(begin >= end_before);
        end_before = begin + tests::nanoseconds_of(events[i].at("dur"));
        REQUIRE(events[i].at("args").at("cycle") == borders[i]);
        REQUIRE(events[i].at("args").at("cycles") == borders[i + 1] - borders[i]);
    }
    CHECK(events[0].at("tid") == 3);
    CHECK(events[0].at("cname") == "good");
    CHECK(events[0].at("args").at("more") == true);
}

TEST_CASE("Names with any characters become valid JSON", "[trace]") {
    CHECK(trace::json_text("conv \"1\"\n") == "\"conv \\\"1\\\"\\n\"");
    CHECK(trace::json_text("\xff") == "\"\xef\xbf\xbd\"");
}
