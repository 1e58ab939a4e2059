#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hw/common/clock.h"
#include "hw/isa/assembly/instruction_text.h"
#include "hw/isa/instruction.h"
#include "sim/view/trace/output_file.h"
#include "sim/view/trace/text_buffer.h"
#include "sim/view/trace/window.h"

namespace systole::trace {

/// The number of a row of the timeline with slices; the format calls it a thread.
enum class Track : std::uint8_t;

/// Writes Chrome's trace-event format, JSON object form. Times are given in cycles and written as the format
/// requires, in microseconds of simulated time; slices have their cycles as details, too.
class ChromeEvents {
public:
    /// `clock_hz` turns cycles into time. The file must outlive the object.
    ChromeEvents(OutputFile& file, std::uint64_t clock_hz);
    /// The same file, for the tracks of another process; the first one's number is 1.
    ChromeEvents of_process(unsigned number) const;

    void name_process(std::string_view name);
    /// Tracks are shown in the order of their numbers.
    void name_track(Track track, std::string_view name);

    /// A slice over cycles [begin, end). Its details follow as `,"key":value`, then `end_slice`. `color` is
    /// one of the names that Chrome's page reserves; empty: the page chooses.
    TextBuffer& begin_slice(Track track, Cycle begin, Cycle end, std::string_view name,
                            std::string_view color = {});
    void end_slice();

    /// The value of a counter, or of one of its series, from a cycle on.
    template <class Value>
    void counter(std::string_view name, std::string_view series, Cycle at, Value value) {
        open('C') << ",\"ts\":";
        stamp(at) << ",\"name\":\"" << name << "\",\"args\":{\"" << series << "\":" << value << '}';
        close();
    }

    /// Parts of an arrow: its begin, a point on its way and its end, each at the slice of the track that
    /// covers the cycle.
    void flow_begin(std::uint64_t id, Track track, Cycle at) { flow('s', id, track, at); }
    void flow_step(std::uint64_t id, Track track, Cycle at) { flow('t', id, track, at); }
    void flow_end(std::uint64_t id, Track track, Cycle at) { flow('f', id, track, at); }

    /// Ends the file: no call of any process may follow.
    void finish();

private:
    /// What the processes share.
    struct Shared {
        explicit Shared(OutputFile& file) : text(file) {}
        TextBuffer text;
        bool is_first = true;
    };

    TextBuffer& open(char phase);
    void close();
    void flow(char phase, std::uint64_t id, Track track, Cycle at);
    TextBuffer& stamp(Cycle cycle);
    std::uint64_t nanoseconds(Cycle cycle) const;
    TextBuffer& microseconds(std::uint64_t nanoseconds);

    std::uint64_t clock_hz_;
    unsigned process_ = 1;
    std::shared_ptr<Shared> shared_;
};

/// The text as a JSON string, with quotes. Invalid UTF-8 is replaced.
std::string json_text(std::string_view text);

/// Appends the instruction's fields as members of a JSON object, each led by a comma: `,"length":64`. Fields
/// that assembly may leave out are left out; a flag that is set is true.
void append_fields(const isa::Instruction& instruction, const isa::HostLabels& labels, TextBuffer& text);

/// A number that rises and falls over the run. A window shows the samples in it and the last one before,
/// which is the counter's value at the beginning of the window.
class CounterTrack {
public:
    CounterTrack(ChromeEvents& events, const Window& window, std::string_view name, std::string_view series)
        : events_(events), window_(window), name_(name), series_(series) {}

    /// Calls come in cycle order. A sample without a layer is shown with every choice of layers.
    void add(Cycle at, std::int64_t amount, std::optional<hw::Tag> tag = {});
    /// Ends the track: no call may follow.
    void finish();

private:
    struct Sample {
        Cycle at = 0;
        std::int64_t value = 0;
    };
    void write(const Sample& sample) { events_.counter(name_, series_, sample.at, sample.value); }

    ChromeEvents& events_;
    const Window& window_;
    const std::string_view name_;
    const std::string_view series_;
    std::int64_t value_ = 0;
    std::optional<Sample> before_;  ///< the last sample before the window
};

}  // namespace systole::trace
