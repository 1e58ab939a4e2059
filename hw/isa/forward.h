#pragma once

// Forward declarations for the headers of the instructions.
namespace systole::isa {

class FieldVisitor;
class Registers;
struct Footprint;
struct Geometry;

}  // namespace systole::isa
