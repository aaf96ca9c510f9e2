"""The word lists of the text tools: general English, plus what other languages need to be split."""

from __future__ import annotations

UNITS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen
eighteen nineteen
"""
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"

ABBREVIATIONS = """
dr mr mrs ms prof st vs cf fig figs eq eqs no nos approx al inc ltd co corp jr sr vol pp ed eds gen col lt
sgt capt
rev hon mt ft dept est govt min max incl resp sec ch art op ca jan feb mar apr jun jul aug sep sept oct nov
dec
bzw usw bd nr str
sen pres supt cmdr maj brig messrs mme bros assn univ blvd ave med
"""

# Beyond scikit-learn's stop words: words that fill answers without saying anything of their own.
WEAK_WORDS = """
also just even really quite rather simply actually basically generally usually often sometimes many much
several
various different certain thing things way ways lot lots make makes made making get gets got use uses used
using
say says said tell tells told called mean means like want think thought people person anyone everyone
someone
don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn can yes no not one ones first
however
therefore thus hence although though whereas instead moreover additionally overall conclusion summary example
instance based provided according including include includes
"""

# Opposites, one axis a line: the words of one pole | the words of the other.
AXES = """
more|less fewer
most|least
increase rise grow raise boost strengthen|decrease fall drop reduce lower decline shrink weaken cut
large larger big bigger great greater huge|small smaller tiny little
high higher|low lower
fast faster quick quicker rapid|slow slower
long longer|short shorter
early earlier before|late later after
strong stronger|weak weaker
gain win earn|lose loss
near close closer|far farther further
hot warm hotter warmer|cold cool colder cooler
above over|below under beneath
safe harmless|dangerous unsafe harmful risky
allow permit legal|forbid prohibit ban illegal
cause trigger|prevent avoid
always|never
often frequently|rarely seldom
cheap cheaper|expensive dear costlier
better best|worse worst
easy easier|hard harder difficult
accept|reject
include contain|exclude omit
together jointly|separately apart
maximum|minimum
north northern|south southern
east eastern|west western
left|right
inside within indoors|outside outdoors
wet damp moist|dry
light lighter|heavy heavier
bright|dark
agree|disagree
same|different
support|oppose
import|export
buy|sell
start begin|end stop finish
single|multiple several
old older|new newer young younger
deep deeper|shallow shallower
wide wider broad|narrow narrower
hide|reveal
absorb|reflect emit
attract|repel
public|private
temporary|permanent
singular|plural
supporter ally|opponent enemy
rose grew|fell shrank
won|lost
enable activate|disable deactivate
raw uncooked|cooked
positive|negative
success succeed|failure fail
active|passive
formal|informal
thick thicker|thin thinner
soft softer|firm firmer
rough|smooth
clean|dirty
full|empty
open opened|closed shut
acid acidic|alkaline
natural|artificial
domestic|foreign
internal|external
major|minor
guilty|innocent
liquid|solid
fixed|variable adjustable
voluntary|compulsory mandatory
optional|required
possible|impossible
likely|unlikely
visible|invisible
reversible|irreversible
stable|unstable
complete|incomplete
correct|incorrect
encourage|discourage
appear|disappear
arrive|depart
improve|worsen
accelerate|brake
freeze|melt
float|sink
inhale|exhale
ancient|modern
vertical|horizontal
majority|minority
artery|vein
victory|defeat
advantage|disadvantage
lender creditor|borrower debtor
buyer|seller
employer|employee
male|female
mother|father
day|night
morning|evening
summer|winter
debit|credit
asset|liability
input|output
encrypt|decrypt
predator|prey
plaintiff|defendant
lengthen|shorten
widen|narrow
tighten|loosen
both|neither
common|rare
simple|complex complicated
sharp|blunt
loud noisy|quiet silent
tight|loose
known|unknown
true|false untrue
rich wealthy|poor
sweet|bitter sour
join|quit
born birth|died death
brother|sister
son|daughter
husband|wife
winner champion|loser
predecessor|successor
ancestor|descendant
amateur|professional
civilian|military
primary|secondary
protagonist hero|antagonist villain
attack|defend
approve|veto
urban city|rural countryside
can|cannot
"""
