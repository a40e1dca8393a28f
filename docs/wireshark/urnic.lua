-- Shows in Wireshark and tshark what urnic adds to RoCEv2: the selective acknowledge and the offer of it, packets with
-- manufacturer's opcodes. Layout and meaning: docs/selective-acks.md.
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
local offer_reads = ProtoField.bool("urnic.offer.reads", "Reads selective acknowledges", 8, nil, 0x01)
local offer_gives = ProtoField.bool("urnic.offer.gives", "Gives selective acknowledges", 8, nil, 0x02)
local offer_asks = ProtoField.bool("urnic.offer.wants_answer", "Wants an answer", 8, nil, 0x04)
local truncated = ProtoExpert.new("urnic.sack.truncated", "The selective acknowledge is cut short",
                                  expert.group.MALFORMED, expert.severity.ERROR)

urnic.fields = { syndrome, msn, reserved, missing, latest, earlier, arrived, offer_reads, offer_gives, offer_asks }
urnic.experts = { truncated }

local get_opcode = Field.new("infiniband.bth.opcode")
local get_psn = Field.new("infiniband.bth.psn")

local SELECTIVE_ACKNOWLEDGE = 0xF1
local OFFER = 0xF5
local OFFER_SIGNATURE = "75726e6963534101"
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

local function show_offer(tvb, pinfo, tree, offset)
  if tvb:len() < offset + HEADER_BYTES or tostring(tvb(offset + 4, 8):bytes()):lower() ~= OFFER_SIGNATURE then return end
  local shown, flags, says = tree:add(urnic, tvb(offset, HEADER_BYTES)), tvb(offset, 1), {}
  for bit_number, field in ipairs({ offer_reads, offer_gives, offer_asks }) do
    shown:add(field, flags)
    if bit.band(flags:uint(), bit.lshift(1, bit_number - 1)) ~= 0 then
      says[#says + 1] = ({ "reads", "gives", "wants an answer" })[bit_number]
    end
  end
  pinfo.cols.info:append(" Selective Ack Offer [" .. table.concat(says, ", ") .. "]")
end

function urnic.dissector(tvb, pinfo, tree)
  local opcode, psn = get_opcode(), get_psn()
  if opcode ~= nil and psn ~= nil and opcode.value == OFFER then
    return show_offer(tvb, pinfo, tree, psn.offset + PSN_BYTES)
  end
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
