-- Shows in Wireshark and tshark what urnic adds to RoCEv2: the selective-ack bit of the BTH, and the header
-- behind the AETH of a NAK that has it. Layout and meaning: docs/selective-acks.md.
--
--   tshark -X lua_script:urnic.lua -r FILE.pcap -O urnic
--   or put it into Wireshark's folder of personal Lua plugins (Help > About Wireshark > Folders)

local urnic = Proto("urnic", "urnic selective acknowledgement")

local bit_offer = ProtoField.bool("urnic.offer", "Understands selective acks (request)", base.NONE)
local bit_gives = ProtoField.bool("urnic.gives", "Gives selective acks (response)", base.NONE)
local reserved = ProtoField.uint8("urnic.sack.reserved", "Reserved", base.HEX)
local missing = ProtoField.uint24("urnic.sack.first_missing", "First missing PSN", base.DEC)
local latest = ProtoField.uint24("urnic.sack.latest", "Latest PSN", base.DEC)
local earlier = ProtoField.uint64("urnic.sack.earlier", "Earlier PSNs that have arrived, latest - 1 first", base.HEX)
local arrived = ProtoField.string("urnic.sack.arrived", "Arrived behind the first missing PSN")
local truncated = ProtoExpert.new("urnic.sack.truncated", "The selective-ack header is cut short",
                                  expert.group.MALFORMED, expert.severity.ERROR)

urnic.fields = { bit_offer, bit_gives, reserved, missing, latest, earlier, arrived }
urnic.experts = { truncated }

local get_opcode = Field.new("infiniband.bth.opcode")
local get_bits = Field.new("infiniband.bth.reserved7")
local get_psn = Field.new("infiniband.bth.psn")
local get_aeth = Field.new("infiniband.aeth")
local get_syndrome = Field.new("infiniband.aeth.syndrome")

local RC_ACKNOWLEDGE = 0x11
local XRC_ACKNOWLEDGE = 0xB1
local FIRST_RESPONSE, LAST_RESPONSE = 0x0D, 0x12
local SELECTIVE_ACK = 0x40
local NAK_SEQUENCE_ERROR = 0x60
local HEADER_BYTES = 12
local PSNS = 0x1000000

-- Serial distance from one PSN to another.
local function distance(from, to)
  local ahead = (to - from) % PSNS
  if ahead >= PSNS / 2 then return ahead - PSNS end
  return ahead
end

-- "5, 7-9": the PSNs behind `first_missing` that a report says have arrived, in order.
local function ranges(first_missing, latest_psn, high, low)
  local function has_arrived(back)  -- latest_psn - back
    if back == 0 then return true end
    local word, at = low, back - 1
    if at >= 32 then word, at = high, at - 32 end
    return bit.band(word, bit.lshift(1, at)) ~= 0
  end
  local found, from = {}, nil
  for back = math.min(64, distance(first_missing, latest_psn)), 0, -1 do
    local psn = (latest_psn - back) % PSNS
    if has_arrived(back) then
      from = from or psn
    end
    if from and (back == 0 or not has_arrived(back - 1)) then
      if has_arrived(back) then
        found[#found + 1] = from == psn and tostring(psn) or from .. "-" .. psn
      end
      from = nil
    end
  end
  return table.concat(found, ", ")
end

local function show_header(tvb, pinfo, tree, offset, psn)
  if tvb:len() < offset + HEADER_BYTES then
    tree:add_proto_expert_info(truncated)
    return
  end
  local range = tvb(offset, HEADER_BYTES)
  local header = tree:add(urnic, range, "Selective-ack header")
  header:add(missing, psn):set_generated()
  header:add(reserved, tvb(offset, 1))
  header:add(latest, tvb(offset + 1, 3))
  header:add(earlier, tvb(offset + 4, 8))
  local text = ranges(psn, tvb(offset + 1, 3):uint(), tvb(offset + 4, 4):uint(), tvb(offset + 8, 4):uint())
  header:add(arrived, text):set_generated()
  local behind = text == "" and "" or ", arrived " .. text
  pinfo.cols.info:append(" [missing " .. psn .. behind .. "]")
end

function urnic.dissector(tvb, pinfo, tree)
  local opcode, bits = get_opcode(), get_bits()
  if opcode == nil or bits == nil then return end
  if bit.band(bits.value, SELECTIVE_ACK) == 0 then return end
  local operation = bit.band(opcode.value, 0x1F)
  local is_response = operation >= FIRST_RESPONSE and operation <= LAST_RESPONSE
  local shown = tree:add(urnic)
  shown:add(is_response and bit_gives or bit_offer, true)
  local aeth, syndrome = get_aeth(), get_syndrome()
  local is_acknowledge = opcode.value == RC_ACKNOWLEDGE or opcode.value == XRC_ACKNOWLEDGE
  if not is_acknowledge or aeth == nil or syndrome == nil then return end
  -- The highest bit of a syndrome is reserved.
  if bit.band(syndrome.value, 0x7F) ~= NAK_SEQUENCE_ERROR then return end
  show_header(tvb, pinfo, shown, aeth.offset + aeth.len, get_psn().value)
end

register_postdissector(urnic)
