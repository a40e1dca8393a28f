-- Shows in Wireshark and tshark what urnic adds to RoCEv2: the selective acknowledge, a packet with a
-- manufacturer's opcode. Layout and meaning: docs/selective-acks.md.
--
--   tshark -X lua_script:urnic.lua -r FILE.pcap -O urnic
--   or put it into Wireshark's folder of personal Lua plugins (Help > About Wireshark > Folders)

local urnic = Proto("urnic", "urnic selective acknowledge")

local syndrome = ProtoField.uint8("urnic.sack.syndrome", "Syndrome (0x60: NAK, PSN sequence error)", base.HEX)
local msn = ProtoField.uint24("urnic.sack.msn", "Message sequence number", base.DEC)
local reserved = ProtoField.uint8("urnic.sack.reserved", "Reserved", base.HEX)
local missing = ProtoField.uint24("urnic.sack.first_missing", "First missing PSN", base.DEC)
local latest = ProtoField.uint24("urnic.sack.latest", "Latest PSN", base.DEC)
local earlier = ProtoField.uint64("urnic.sack.earlier", "Earlier PSNs that have arrived, latest - 1 first", base.HEX)
local arrived = ProtoField.string("urnic.sack.arrived", "Arrived behind the first missing PSN")
local truncated = ProtoExpert.new("urnic.sack.truncated", "The selective acknowledge is cut short",
                                  expert.group.MALFORMED, expert.severity.ERROR)

urnic.fields = { syndrome, msn, reserved, missing, latest, earlier, arrived }
urnic.experts = { truncated }

local get_opcode = Field.new("infiniband.bth.opcode")
local get_psn = Field.new("infiniband.bth.psn")

local SELECTIVE_ACKNOWLEDGE = 0xF1
local PSN_BYTES = 3
local AETH_BYTES = 4
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
  tree:add(missing, psn):set_generated()
  tree:add(reserved, tvb(offset, 1))
  tree:add(latest, tvb(offset + 1, 3))
  tree:add(earlier, tvb(offset + 4, 8))
  local text = ranges(psn, tvb(offset + 1, 3):uint(), tvb(offset + 4, 4):uint(), tvb(offset + 8, 4):uint())
  tree:add(arrived, text):set_generated()
  local behind = text == "" and "" or ", arrived " .. text
  pinfo.cols.info:append(" Selective Acknowledge [missing " .. psn .. behind .. "]")
end

function urnic.dissector(tvb, pinfo, tree)
  local opcode, psn = get_opcode(), get_psn()
  if opcode == nil or psn == nil or opcode.value ~= SELECTIVE_ACKNOWLEDGE then return end
  local offset = psn.offset + PSN_BYTES  -- behind the BTH, which ends with the PSN
  if tvb:len() < offset + AETH_BYTES + HEADER_BYTES then
    tree:add(urnic):add_proto_expert_info(truncated)
    return
  end
  local shown = tree:add(urnic, tvb(offset, AETH_BYTES + HEADER_BYTES))
  shown:add(syndrome, tvb(offset, 1))
  shown:add(msn, tvb(offset + 1, 3))
  show_header(tvb, pinfo, shown, offset + AETH_BYTES, psn.value)
end

register_postdissector(urnic)
