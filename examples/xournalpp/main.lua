-- Xournal++ (1.2 or newer): the selected ink as LaTeX, written below it.
-- Copy this folder to ~/.config/xournalpp/plugins/namer-edge, and have `namer-edge` on the PATH.

function initUi()
  app.registerUi({
    menu = "Selected ink to LaTeX",
    callback = "readSelection",
    accelerator = "<Control><Alt>l",
  })
end

local function say(text)
  if app.openDialog then
    app.openDialog(text, { "OK" }, "")
  else -- before 1.2
    app.msgbox(text, { [1] = "OK" })
  end
end

-- The strokes as InkML, and the lower left corner of the box round them.
local function inkml(strokes)
  local traces, left, bottom = {}, math.huge, -math.huge
  for _, stroke in ipairs(strokes) do
    local points = {}
    for number, x in ipairs(stroke.x) do
      local y = stroke.y[number]
      points[number] = string.format("%.3f %.3f", x, y):gsub(",", ".")
      left, bottom = math.min(left, x), math.max(bottom, y)
    end
    traces[#traces + 1] = "<trace>" .. table.concat(points, ", ") .. "</trace>"
  end
  local ink = '<ink xmlns="http://www.w3.org/2003/InkML">' .. table.concat(traces) .. "</ink>"
  return ink, left, bottom
end

-- What `namer-edge` prints for the file: its LaTeX, or nil and what went wrong.
local function read(path)
  local program = io.popen('namer-edge recognize "' .. path .. '" 2>&1')
  local said = program:read("a")
  if program:close() then
    return said:match("\t(.-)\r?\n")
  end
  return nil, said
end

function readSelection()
  local strokes = app.getStrokes and app.getStrokes("selection")
  if not app.getStrokes then
    return say("This plug-in needs Xournal++ 1.2 or newer.")
  elseif not strokes or #strokes == 0 then
    return say("Select the handwriting first.")
  end
  local ink, left, bottom = inkml(strokes)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(ink)
  file:close()
  local latex, problem = read(path)
  os.remove(path)
  if not latex then
    say("namer-edge could not read it:\n" .. (problem or ""))
  elseif app.addTexts then
    app.addTexts({ texts = { { text = latex, x = left, y = bottom + 6 } } })
    app.refreshPage()
  else
    say(latex)
  end
end
